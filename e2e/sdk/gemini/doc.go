// Package gemini holds generateContent, at Google's two addresses for it, against
// google.golang.org/genai. It holds tests only.
//
// The SDK's types are not the body of the REST interface: its client takes contents
// and one configuration, and converters make of them systemInstruction, tools and
// generationConfig. So both are held against it: the parts as its types read and
// spell them, and the body that its client makes of the same parts.
package gemini
