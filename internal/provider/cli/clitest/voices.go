package clitest

// voice is what a program writes, line by line, as the real one does.
type voice struct {
	open, begin, work, note, retry, ok, refuse, login []string

	loginWords string
	loginCode  int
}

// voices are taken from claude 2.1.332, codex 0.171.0 and gemini 0.61.0, started
// against a server on loopback (2026-11-30) and shortened.
var voices = map[string]voice{
	"claude": {
		open: []string{
			`{"type":"system","subtype":"init","cwd":"/p","session_id":"s","tools":["Bash","Read"],"model":"claude-opus-5-5","permissionMode":"default","claude_code_version":"2.1.332"}`,
			`{"type":"system","subtype":"status","status":"requesting","session_id":"s"}`,
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}},"session_id":"s","parent_tool_use_id":null}`,
		},
		begin: []string{
			`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"s","parent_tool_use_id":null}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"O"}},"session_id":"s","parent_tool_use_id":null}`,
		},
		work: []string{
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}},"session_id":"s","parent_tool_use_id":null}`,
			`{"type":"assistant","message":{"id":"msg_1","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"hidden"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls\n-la"}}]},"parent_tool_use_id":null}`,
			`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"a.go"}]},"parent_tool_use_id":null}`,
			`{"type":"assistant","message":{"id":"msg_9","role":"assistant","model":"claude-x","content":[{"type":"text","text":"a helper's words"}]},"parent_tool_use_id":"t"}`,
			`{"type":"unknown_to_us","x":[1]}`,
		},
		note: []string{
			`{"type":"system","subtype":"informational","content":"[media-item-limit] The model refused this request as unprocessable. It held 120 images and documents; the oldest were removed to fit a limit of 100, and it is being sent again.","level":"warn"}`,
		},
		retry: []string{
			`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":614,"error_status":529,"error":"overloaded","session_id":"s"}`,
		},
		ok: []string{
			`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"s","parent_tool_use_id":null}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"O"}},"session_id":"s","parent_tool_use_id":null}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"K"}},"session_id":"s","parent_tool_use_id":null}`,
			`{"type":"assistant","message":{"id":"msg_1","role":"assistant","model":"claude-x","content":[{"type":"text","text":"OK"}],"stop_reason":null},"parent_tool_use_id":null,"session_id":"s"}`,
			`{"type":"stream_event","event":{"type":"message_stop"},"session_id":"s","parent_tool_use_id":null}`,
			`{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn","result":"OK","usage":{"input_tokens":100,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":7,"output_tokens_details":{"thinking_tokens":0}},"modelUsage":{},"terminal_reason":"completed","api_error_status":null}`,
		},
		refuse: []string{
			`{"type":"assistant","message":{"id":"x","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 400 Could not process image"}]},"parent_tool_use_id":null}`,
			`{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 Could not process image","usage":{},"terminal_reason":"image_error","api_error_status":400}`,
		},
		login: []string{
			`{"type":"assistant","message":{"id":"x","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"Not logged in · Please run /login"}]},"parent_tool_use_id":null}`,
			`{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login","usage":{"input_tokens":0,"output_tokens":0},"terminal_reason":"api_error"}`,
		},
		loginCode: 1,
	},
	"codex": {
		open:  []string{`{"type":"thread.started","thread_id":"t"}`, `{"type":"turn.started"}`},
		begin: []string{`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"O"}}`},
		work: []string{
			`{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"hm"}}`,
			`{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"ls\n-la","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"ls -la","aggregated_output":"a.go","exit_code":0,"status":"completed"}}`,
			`{"type":"unknown.to.us","x":[1]}`,
		},
		note: []string{
			`{"type":"item.completed","item":{"id":"item_3","type":"error","message":"Codex could not read the local image at ` + "`/x.png`" + `: No such file or directory (os error 2)"}}`,
		},
		retry: []string{`{"type":"error","message":"Reconnecting... 2/5 (stream disconnected before completion)"}`},
		ok: []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"OK"}}`,
			`{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":5,"cache_write_input_tokens":0,"output_tokens":7,"reasoning_output_tokens":2}}`,
		},
		refuse: []string{
			`{"type":"error","message":"{\"error\":{\"code\":400,\"message\":\"Unable to process input image. Please retry\",\"status\":\"INVALID_ARGUMENT\"}}"}`,
			`{"type":"turn.failed","error":{"message":"{\"error\":{\"code\":400,\"message\":\"Unable to process input image. Please retry\",\"status\":\"INVALID_ARGUMENT\"}}"}}`,
		},
		login: []string{
			`{"type":"error","message":"unexpected status 401 Unauthorized: Missing bearer or basic authentication in header, url: https://x.invalid/v1/responses"}`,
			`{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Missing bearer or basic authentication in header, url: https://x.invalid/v1/responses"}}`,
		},
		loginCode: 1,
	},
	"gemini": {
		open: []string{
			`{"type":"init","timestamp":"2026-11-30T18:26:16.984Z","session_id":"s","model":"gemini-2.5-flash"}`,
			`{"type":"message","timestamp":"2026-11-30T18:26:17.202Z","role":"user","content":"the prompt"}`,
		},
		begin: []string{`{"type":"message","timestamp":"t","role":"assistant","content":"O","delta":true}`},
		work: []string{
			`{"type":"tool_use","timestamp":"t","tool_name":"run_shell_command","tool_id":"1","parameters":{"command":"ls\n-la"}}`,
			`{"type":"tool_result","timestamp":"t","tool_id":"1","status":"success","output":"a.go"}`,
			`{"type":"unknown_to_us","x":[1]}`,
		},
		note:  []string{`{"type":"error","timestamp":"t","severity":"warning","message":"Path FILE is git-ignored and will be skipped."}`},
		retry: []string{`{"type":"error","timestamp":"t","severity":"warning","message":"Loop detected, stopping execution"}`},
		ok: []string{
			`{"type":"message","timestamp":"t","role":"assistant","content":"O","delta":true}`,
			`{"type":"message","timestamp":"t","role":"assistant","content":"K","delta":true}`,
			`{"type":"result","timestamp":"t","status":"success","stats":{"total_tokens":107,"input_tokens":100,"output_tokens":7,"cached":5,"input":95,"duration_ms":393,"tool_calls":0,"models":{}}}`,
		},
		refuse: []string{
			`{"type":"result","timestamp":"t","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":400,\"message\":\"Unable to process input image. Please retry\",\"status\":\"INVALID_ARGUMENT\"}}]"},"stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0}}`,
		},
		loginWords: "Please set an Auth method in your /h/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY",
		loginCode:  41,
	},
	"custom": {
		begin:      []string{"O"},
		work:       []string{`{"tote":"thought","text":"hm"}`, `{"tote":"unknown"}`},
		note:       []string{`{"tote":"remark","text":"one picture was too large","lost":true}`},
		ok:         []string{"OK", `{"tote":"usage","input_tokens":100,"output_tokens":7}`},
		refuse:     []string{`{"tote":"error","status":400,"message":"could not process image"}`},
		loginWords: "not logged in",
		loginCode:  1,
	},
}
