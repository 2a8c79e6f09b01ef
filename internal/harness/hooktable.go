package harness

// The keys of Claude Code's payloads. Codex, Qwen Code and Droid took them
// over, and Gemini CLI most of them.
var claudeKeys = []Key{
	{"session_id", SessionID},
	{"transcript_path", Transcript},
	{"cwd", Cwd},
	{"hook_event_name", EventName},
	{"tool_name", Tool},
	{"source", Source},
	{"reason", Reason},
	{"trigger", Trigger},
	{"notification_type", NotificationType},
	{"message", Message},
	{"last_assistant_message", LastMessage},
	{"agent_id", AgentID},
	{"agent_type", AgentType},
	{"model", Model},
	{"session_title", Title},
	{"background_tasks", Tasks},
}

// answered is the kind of the events that say a dialog was answered, for
// harnesses that have a notification of the same meaning.
const answered = "elicitation_response"

var claudeEvents = []NativeEvent{
	{Name: "SessionStart", Event: SessionStart},
	{Name: "SessionEnd", Event: SessionEnd},
	{Name: "UserPromptSubmit", Event: PromptSubmit},
	{Name: "UserPromptExpansion", Event: PromptSubmit},
	{Name: "PreToolUse", Event: ToolUse},
	{Name: "PostToolUse", Event: ToolDone},
	{Name: "PostToolUseFailure", Event: ToolDone},
	{Name: "PermissionRequest", Event: PermissionRequest},
	{Name: "PermissionDenied", Event: ToolDone}, // by the automatic mode; the turn goes on
	{Name: "Notification", Event: Notification},
	{Name: "Stop", Event: Stop},
	{Name: "StopFailure", Event: StopFailure},
	{Name: "SubagentStart", Event: SubagentStart},
	{Name: "SubagentStop", Event: SubagentStop},
	{Name: "PreCompact", Event: Compact},
	{Name: "PostCompact", Event: CompactDone},
	{Name: "Elicitation", Event: Elicitation},
	{Name: "ElicitationResult", Event: Notification, Kind: answered},
}

var claudeHooks = Hooks{
	Keys:   claudeKeys,
	Events: claudeEvents,
	Notifications: []NotificationKind{
		{"permission_prompt", Waits},
		{"elicitation_dialog", Waits},
		{"elicitation_url_dialog", Waits},
		{"agent_needs_input", Waits},
		{"idle_prompt", Idles},
		{"elicitation_complete", Answered},
		{answered, Answered},
	},
	Modes: []EnvMode{
		{"CLAUDE_JOB_DIR", "/", "background"},
		{"CLAUDE_CODE_ENTRYPOINT", "sdk-", "headless"},
		{"CLAUDE_CODE_ENTRYPOINT", "claude-desktop", "desktop"},
	},
}

var codexHooks = Hooks{
	Keys: claudeKeys,
	Events: []NativeEvent{
		{Name: "SessionStart", Event: SessionStart},
		{Name: "SessionEnd", Event: SessionEnd},
		{Name: "UserPromptSubmit", Event: PromptSubmit},
		{Name: "PreToolUse", Event: ToolUse},
		{Name: "PostToolUse", Event: ToolDone},
		{Name: "PermissionRequest", Event: PermissionRequest},
		{Name: "Stop", Event: Stop},
		{Name: "Interrupt", Event: Interrupt},
		{Name: "SubagentStart", Event: SubagentStart},
		{Name: "SubagentStop", Event: SubagentStop},
		{Name: "PreCompact", Event: Compact},
		{Name: "PostCompact", Event: CompactDone},
	},
}

// PreCompress is no compaction: Gemini CLI sends it before every turn.
var geminiHooks = Hooks{
	Keys: []Key{
		{"session_id", SessionID},
		{"transcript_path", Transcript},
		{"cwd", Cwd},
		{"hook_event_name", EventName},
		{"tool_name", Tool},
		{"source", Source},
		{"reason", Reason},
		{"notification_type", NotificationType},
		{"message", Message},
		{"prompt_response", LastMessage},
	},
	Events: []NativeEvent{
		{Name: "SessionStart", Event: SessionStart},
		{Name: "SessionEnd", Event: SessionEnd},
		{Name: "BeforeAgent", Event: PromptSubmit},
		{Name: "AfterAgent", Event: Stop},
		{Name: "BeforeTool", Event: ToolUse},
		{Name: "AfterTool", Event: ToolDone},
		{Name: "Notification", Event: Notification},
	},
	Notifications: []NotificationKind{{"ToolPermission", Waits}},
}

var qwenHooks = Hooks{
	Keys:   claudeKeys,
	Events: claudeEvents,
	Notifications: []NotificationKind{
		{"permission_prompt", Waits},
		{"elicitation_dialog", Waits},
		{"idle_prompt", Idles},
		{answered, Answered}, // of ElicitationResult, in claudeEvents
	},
}

// Copilot CLI sends camel case to events registered by their camel case name,
// and Claude Code's form to those in Pascal case. A permission request says
// nothing: it is sent before the rules are asked whether to ask the user.
var copilotHooks = Hooks{
	Keys: []Key{
		{"sessionId", SessionID}, {"session_id", SessionID},
		{"transcriptPath", Transcript}, {"transcript_path", Transcript},
		{"cwd", Cwd},
		{"hook_event_name", EventName}, {"hookName", EventName},
		{"toolName", Tool}, {"tool_name", Tool},
		{"source", Source},
		{"reason", Reason},
		{"trigger", Trigger},
		{"notification_type", NotificationType},
		{"message", Message},
		{"agentId", AgentID}, {"agent_id", AgentID},
		{"agentName", AgentType}, {"agent_name", AgentType},
	},
	Events: []NativeEvent{
		{Name: "sessionStart", Event: SessionStart}, {Name: "SessionStart", Event: SessionStart},
		{Name: "sessionEnd", Event: SessionEnd}, {Name: "SessionEnd", Event: SessionEnd},
		{Name: "userPromptSubmitted", Event: PromptSubmit}, {Name: "UserPromptSubmit", Event: PromptSubmit},
		{Name: "preToolUse", Event: ToolUse}, {Name: "PreToolUse", Event: ToolUse},
		{Name: "postToolUse", Event: ToolDone}, {Name: "PostToolUse", Event: ToolDone},
		{Name: "postToolUseFailure", Event: ToolDone}, {Name: "PostToolUseFailure", Event: ToolDone},
		{Name: "notification", Event: Notification}, {Name: "Notification", Event: Notification},
		{Name: "agentStop", Event: Stop}, {Name: "Stop", Event: Stop},
		{Name: "errorOccurred", Event: StopFailure}, {Name: "ErrorOccurred", Event: StopFailure},
		{Name: "subagentStart", Event: SubagentStart}, {Name: "SubagentStart", Event: SubagentStart},
		{Name: "subagentStop", Event: SubagentStop}, {Name: "SubagentStop", Event: SubagentStop},
		{Name: "preCompact", Event: Compact}, {Name: "PreCompact", Event: Compact},
	},
	Notifications: []NotificationKind{
		{"permission_prompt", Waits},
		{"elicitation_dialog", Waits},
	},
}

// Cursor sends before- and afterShellExecution besides the tool events of the
// same command, and no sign of a question to the user.
var cursorHooks = Hooks{
	Keys: []Key{
		{"conversation_id", SessionID},
		{"transcript_path", Transcript},
		{"workspace_roots", Roots},
		{"hook_event_name", EventName},
		{"tool_name", Tool},
		{"reason", Reason},
		{"trigger", Trigger},
		{"status", StopStatus},
		{"subagent_id", AgentID},
		{"subagent_type", AgentType},
		{"model", Model},
		{"cursor_version", Proof},
	},
	Events: []NativeEvent{
		{Name: "sessionStart", Event: SessionStart},
		{Name: "sessionEnd", Event: SessionEnd},
		{Name: "beforeSubmitPrompt", Event: PromptSubmit},
		{Name: "preToolUse", Event: ToolUse},
		{Name: "postToolUse", Event: ToolDone},
		{Name: "postToolUseFailure", Event: ToolDone},
		{Name: "stop", Event: Stop},
		{Name: "subagentStart", Event: SubagentStart},
		{Name: "subagentStop", Event: SubagentStop},
		{Name: "preCompact", Event: Compact},
	},
}

var droidHooks = Hooks{
	Keys:     claudeKeys,
	Kindless: true,
	Events: []NativeEvent{
		{Name: "SessionStart", Event: SessionStart},
		{Name: "SessionEnd", Event: SessionEnd},
		{Name: "UserPromptSubmit", Event: PromptSubmit},
		{Name: "PreToolUse", Event: ToolUse},
		{Name: "PostToolUse", Event: ToolDone},
		{Name: "Notification", Event: Notification},
		{Name: "Stop", Event: Stop},
		{Name: "SubagentStop", Event: SubagentStop},
		{Name: "PreCompact", Event: Compact},
	},
}

// In Goose a message is the user's prompt.
var gooseHooks = Hooks{
	Keys: []Key{
		{"event", EventName},
		{"session_id", SessionID},
		{"working_dir", Cwd},
		{"tool_name", Tool},
		{"last_assistant_message", LastMessage},
	},
	Events: []NativeEvent{
		{Name: "SessionStart", Event: SessionStart},
		{Name: "SessionEnd", Event: SessionEnd},
		{Name: "UserPromptSubmit", Event: PromptSubmit},
		{Name: "PreToolUse", Event: ToolUse},
		{Name: "PostToolUse", Event: ToolDone},
		{Name: "PostToolUseFailure", Event: ToolDone},
		{Name: "Stop", Event: Stop},
	},
}

// Kiro CLI 2 writes camel case, 3 Pascal case.
var kiroHooks = Hooks{
	NoSession: true,
	Keys: []Key{
		{"hook_event_name", EventName},
		{"cwd", Cwd},
		{"tool_name", Tool},
	},
	Events: []NativeEvent{
		{Name: "agentSpawn", Event: SessionStart}, {Name: "AgentSpawn", Event: SessionStart},
		{Name: "userPromptSubmit", Event: PromptSubmit}, {Name: "UserPromptSubmit", Event: PromptSubmit},
		{Name: "preToolUse", Event: ToolUse}, {Name: "PreToolUse", Event: ToolUse},
		{Name: "postToolUse", Event: ToolDone}, {Name: "PostToolUse", Event: ToolDone},
		{Name: "stop", Event: Stop}, {Name: "Stop", Event: Stop},
	},
}

var crushHooks = Hooks{
	NoStart: true,
	Keys: []Key{
		{"event", EventName},
		{"session_id", SessionID},
		{"cwd", Cwd},
		{"tool_name", Tool},
	},
	Events: []NativeEvent{{Name: "PreToolUse", Event: ToolUse}},
}

// noHooks are those of a harness that has none: a plugin inside it reports.
var noHooks Hooks

// otherHooks are those of any command: our aliases with Claude Code's keys.
var otherHooks = Hooks{Keys: claudeKeys, Kindless: true}
