// A server that gives pictures as screenshot tools do: text, a picture, text. Its
// pictures are made here, so that the test knows every byte.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { crc32, deflateSync } from "node:zlib";

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}

// crc32 of node:zlib is there from Node 20.15.
const crc = crc32 ?? (() => { throw new Error("node 20.15 or newer is needed"); });

// png is one colour, or noise that does not compress.
function png(width, height, rgb) {
  const row = width * 3 + 1, pixels = Buffer.alloc(row * height);
  let seed = 1;
  for (let y = 0; y < height; y++) {
    for (let i = 0; i < width * 3; i++) {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      pixels[y * row + 1 + i] = rgb ? rgb[i % 3] : seed >> 16;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", head), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0)),
  ]);
}

const image = (buf) => ({ type: "image", mimeType: "image/png", data: buf.toString("base64") });
const words = (text) => ({ type: "text", text });
const tools = {
  pair: () => [words("the first"), image(png(40, 20, [255, 0, 0])), words("the second"), image(png(20, 40, [0, 128, 0]))],
  large: () => [words("a full page"), image(png(1700, 1500))],
  files: () => [
    { type: "resource", resource: { uri: "file:///report.pdf", mimeType: "application/pdf", blob: Buffer.from("%PDF-1.4\n%%EOF\n").toString("base64") } },
    { type: "audio", mimeType: "audio/wav", data: Buffer.from("RIFF\x24\0\0\0WAVEfmt ").toString("base64") },
    { type: "resource_link", uri: "file:///etc/hostname", name: "hostname" },
  ],
  empty: () => [],
};

const server = new Server({ name: "screenshot", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })),
}));
server.setRequestHandler(CallToolRequestSchema, (req) => ({ content: tools[req.params.name]() }));
await server.connect(new StdioServerTransport());
