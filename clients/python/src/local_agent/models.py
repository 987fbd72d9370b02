"""What the service takes and answers. Made of openapi.json by `npm run openapi`: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import Field

from ._model import AnyText, Model

ApprovalKind = Annotated[Literal["tool", "result", "question", "server", "task"], AnyText]

ApprovalState = Annotated[Literal[
        "pending",
        "approved",
        "denied",
        "executing",
        "done",
        "unknown",
        "answered",
        "declined",
        "expired",
        "withdrawn",
    ], AnyText]

Effort = Annotated[Literal[
        "provider-default",
        "none",
        "minimal",
        "low",
        "medium",
        "high",
        "xhigh",
        "max",
    ], AnyText]

FinishReason = Annotated[Literal[
        "stop",
        "length",
        "content-filter",
        "tool-calls",
        "error",
        "other",
    ], AnyText]

RunState = Annotated[Literal[
        "queued",
        "running",
        "pending_approval",
        "completed",
        "rejected",
        "failed",
        "stopped",
        "cancelled",
        "interrupted",
    ], AnyText]

RunTrigger = Annotated[Literal[
        "start",
        "schedule",
        "catch_up",
        "manual",
        "steer",
        "files",
        "task",
        "rehearsal",
    ], AnyText]

Scope = Annotated[Literal["once", "exact", "folder", "host", "sandbox", "tool"], AnyText]

TaskApprovalMode = Annotated[Literal["changes", "always", "first_n", "granted", "never"], AnyText]

TaskStatus = Annotated[Literal[
        "planned",
        "scheduled",
        "running",
        "pending_approval",
        "paused",
        "completed",
        "failed",
        "cancelled",
    ], AnyText]

TaskType = Annotated[Literal["one_shot", "recurring", "triggered"], AnyText]

ThreadStatus = Annotated[Literal["idle", "running", "pending_approval"], AnyText]

ToolCallState = Annotated[Literal[
        "open",
        "claimed",
        "done",
        "error",
        "unknown",
        "expired",
        "withdrawn",
    ], AnyText]

ToolServerStatus = Annotated[Literal[
        "connecting",
        "connected",
        "disconnected",
        "failed",
        "authorizing",
        "disabled",
    ], AnyText]


class AbortEvent(Model):
    """The run was ended before it was complete; the event finish follows"""

    reason: str
    """stop, timeout, shutdown, …"""
    type: Literal["abort"] = "abort"


class About(Model):
    """The service, its active model and its endpoints"""

    name: str
    model: str
    """The active model, `<provider>/<model>`"""
    workspace: str
    """The default working directory of runs; empty where there is none, then requests need `cwd`"""
    endpoints: list[str]


class AcceptedSheet(Model):
    """The grants that were made of the accepted lines"""

    grants: list[Grant]
    """The grants of the accepted lines, in their order"""


class AgentBody(Model):
    """The whole agent: it takes the place of one of the same name. Runs that begin later have it"""

    description: str | None = None
    """What the agent is for, for people who choose one"""
    options: NamedOptions | None = None


class AgentChangedEvent(Model):
    """An agent was made, changed or deleted: GET /agents has all"""

    name: str
    deleted: bool
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["agent:changed"] = "agent:changed"


class AgentDeleted(Model):
    """The agent was deleted"""

    ok: bool
    """Always true"""
    name: str


class AgentList(Model):
    """All agents, by name"""

    agents: list[NamedAgent]


class AgentPlan(Model):
    """The plan of a run, and how far it is"""

    steps: list[AgentPlanStepsItem]


class Analysis(Model):
    """How the fast model reads a request. It adds hints, and decides nothing"""

    complexity: Annotated[Literal["simple", "standard", "complex", "long_running"], AnyText]
    time_words: str
    """The words of the request that say when the work is to be done; empty for none"""
    thinking: str
    """How the request was read; may be empty"""


class AnswerSchema(Model):
    """The answer is an object that fits the schema; the run fails otherwise"""

    schema_: dict[str, Any]
    """JSON schema of the answer, an object"""
    retries: int | None = None
    """How often the model may correct an answer that does not fit"""


class AnsweredBy(Model):
    """The model of the last step, and the effort that it was asked with; absent when no model
    answered
    """

    model: str
    """Id of the model"""
    effort: Effort | None = None
    """How much the model reasons before it answers. Providers take the nearest effort that their
    model has
    """


class AnsweredToolCall(Model):
    """The call after a claim or an answer"""

    tool_call_id: str
    tool_name: str
    input: Any
    """The complete input of the call; it fits the inputSchema of the tool"""
    run_id: str
    created_at: int
    """Milliseconds since the Unix epoch"""
    expires_at: int
    """Until then the call can be answered; milliseconds since the Unix epoch"""
    state: ToolCallState
    """open → claimed → done or error; unknown: the claim was not renewed; expired: nobody answered;
    withdrawn: the run does not need it
    """
    continued: bool
    """Whether the run went on: false after a claim, and while other calls of the same step are open
    """
    app: str | None = None
    """options.app of the run"""
    thread_id: str | None = None
    """The conversation of the run; absent for a task"""
    task_id: str | None = None
    """The task of the run; absent for a conversation"""
    claim: ToolCallClaim | None = None
    """The instance of the application that executes the call"""


class AppTool(Model):
    """A tool that the application executes itself"""

    name: str
    """up to 64 letters, digits, _ and -, beginning with a letter"""
    description: str
    """Told to the model"""
    input_schema: dict[str, Any]
    """JSON schema of the input, an object"""
    effect: Annotated[Literal["read", "write", "external"], AnyText]
    """Tools that do more than read need an approval for each call, unless config.json says
    otherwise
    """
    timeout_ms: int | None = None
    """The time in which a call must be answered, ms"""


class AppliedChanges(Model):
    """The changes of a copy that were taken over, or would be"""

    applied: list[str]
    """The paths of the folder that are now as in the copy"""
    skipped: list[SkippedPath]
    """The paths that stay as they are: with `changed_since` or `gone`, somebody changed them after
    they were copied
    """
    apply_id: str | None = None
    """Absent when nothing was to be changed; that of an apply that was cut off, when this one
    completes it. GET /runs/{applyId}/changes lists what was, and POST /runs/{applyId}/undo takes it
    back
    """
    discarded: bool | None = None
    """The copy was deleted"""
    planned: list[PathChange] | None = None
    """With `dryRun`: what would become of the paths; a move is one change. The first 200"""


class ApplyBody(Model):
    """Part of a larger object of the service: ApplyBody."""

    paths: list[str] | None = None
    """Only these, and what is below them: paths that the run changed, absolute or relative to its
    working folder. Default: all
    """
    dry_run: bool | None = None
    """Changes nothing, and answers what an undo would do now"""
    discard: bool | None = None
    """Takes nothing over, and deletes the copy: the next run begins with a new one. Not with
    `paths`. With `dryRun`, answers what would be lost
    """


class Approval(Model):
    """A tool call, the result of a run of a task, questions, tools of a server, or a choice about a
    task, that wait or waited for the user
    """

    approval_id: str
    kind: ApprovalKind
    """tool: a tool call; result: the output of a run of a task; question: a question of the agent;
    server: tools of a tool server that are to be accepted; task: a choice about a task itself,
    outside of its runs
    """
    created_at: int
    """Milliseconds since the Unix epoch"""
    state: ApprovalState
    """pending → approved or denied; approved → executing → done, or unknown when the service ended
    meanwhile; a question: pending → answered or declined; a choice about a task: pending →
    answered; or expired; or withdrawn
    """
    run_id: str | None = None
    """Absent for kinds server and task"""
    thread_id: str | None = None
    """The conversation of the run; absent for a task"""
    task_id: str | None = None
    """The task of the run; absent for a conversation"""
    tool_call_id: str | None = None
    """Kinds tool and question: the id of the call"""
    tool_name: str | None = None
    """Kind tool"""
    input: Any = None
    """Kind tool: the complete input of the call"""
    digest: str | None = None
    """Kind tool: SHA-256 of the canonical input, hexadecimal"""
    cwd: str | None = None
    """Kind tool: real path of the working directory. The call runs in this directory or not at all
    """
    corrected_input: Any = None
    """Kind tool: the input that the person put in the place of the model's"""
    corrected_digest: str | None = None
    """In the list of decisions: SHA-256 of the input that ran, where a person put it in the place
    of the model's
    """
    unbound_offered: bool | None = None
    """The files of the call have changed twice since they were shown: the decision may carry
    "unbound": true
    """
    unbound: bool | None = None
    """The call was approved with whatever is there when it runs"""
    because: list[str] | None = None
    """Kind tool, where an address is asked about: the calls that brought in private data and text
    of others
    """
    note: str | None = None
    """Why the approval is requested again, or what differs from the approved runs of the task"""
    reasons: list[AskReason] | None = None
    """Why the call asks"""
    boundary: Boundary | None = None
    """Commands: where the command would run"""
    tool_server: CallServer | None = None
    """Tools of tool servers: whose tool it is"""
    scopes: list[ScopeChoice] | None = None
    """The scopes that an answer can choose from, as "scope" """
    teaches: list[str] | None = None
    """What the approval teaches the task, in words, for the user. Of a call: unless it is answered
    with a scope, and once the result of the run is approved, too. Of a result: what later runs do
    unasked once enough runs were approved
    """
    output: str | None = None
    """Kind result: the output of the run"""
    questions: list[Question] | None = None
    """Kind question: what is asked"""
    budget: ReachedBudget | None = None
    live: bool | None = None
    """A tool server asks, and its call goes on: no step waits for the answer. Always true"""
    server: str | None = None
    """The tool server that asks, and that gets the answers"""
    url: str | None = None
    """The address that the server wants the user to open: https, or http on this computer"""
    server_tools: list[ApprovalServerToolsItem] | None = None
    """Kind server: the tools that say that they only read, and are not accepted as they are now"""
    variables: list[str] | None = None
    """Kind server: an imported server that is not connected before it is accepted gets these
    variables of the environment
    """
    about: Annotated[Literal["failing", "missed"], AnyText] | None = None
    """Kind task. failing: its runs have failed for two weeks; missed: the time of a task that runs
    once passed more than a week ago
    """
    text: str | None = None
    """Kind task: what is asked, in a sentence"""
    choices: list[Choice] | None = None
    """Kind task: the possible answers"""
    choice: str | None = None
    """Kind task: the answer that was given"""
    reason: str | None = None
    """The reason that was given with the decision"""
    granted: ApprovalGranted | None = None
    """In the list of decisions: what the decision covers beyond the call"""
    device: ApprovalDevice | None = None
    """The paired device that decided; absent when it was decided here"""
    decided_at: int | None = None
    """Milliseconds since the Unix epoch"""
    expires_at: int | None = None
    """Absent for kinds server and task, which do not expire"""


class ApprovalClosedEvent(Model):
    """It was decided, has expired or was withdrawn"""

    approval_id: str
    kind: Annotated[Literal["tool", "result", "question", "app", "server", "task"], AnyText]
    state: str
    """The state after the change"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["approval:closed"] = "approval:closed"
    thread_id: str | None = None
    """The conversation; absent for a task"""
    task_id: str | None = None
    """The task; absent for a conversation"""
    run_id: str | None = None
    """The run; absent for a server"""
    tool_call_id: str | None = None
    """The id of the call, if there is one"""
    tool_name: str | None = None
    """The tool of the call, if there is one"""


class ApprovalDecision(Model):
    """The user's decision on an approval request: `approved`, `answers` to questions, or a `choice`
    about a task
    """

    approved: bool | None = None
    """false declines questions; true answers one about a budget"""
    answers: Answers | None = None
    choice: str | None = None
    """Kind task: the value of one of its choices"""
    input: Any = None
    """With "approved": true: the call runs with this input instead; it is validated first, and
    covers this call alone
    """
    unbound: bool | None = None
    """With "approved": true, where the request offers it: run the call with whatever is there then
    """
    preview_digest: str | None = None
    """previewDigest of the preview that was shown: the call runs if that is there when it runs,
    else it is asked again
    """
    reason: str | None = None
    """Told to the agent after a denial; for a task, feedback that its later runs get"""
    scope: Scope | None = None
    """once: this call alone; exact: the same input in the same working directory; folder: files
    with this extension in or below the folder; host: this tool at the hosts of the call; sandbox:
    every command in the box of this folder; tool: every call of this tool of a tool server or of
    the application
    """
    until: GrantLimits | None = None
    """When the grant ends: after a number of calls, at a time, or at what comes first"""


class ApprovalList(Model):
    """A page of open approval requests; nextCursor is present when there are more"""

    approvals: list[Approval]
    next_cursor: str | None = None


class ApprovalOpenEvent(Model):
    """Something waits for a person: GET /approvals has it whole"""

    approval_id: str
    kind: Annotated[Literal["tool", "result", "question", "app", "server", "task"], AnyText]
    state: str
    """The state after the change"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["approval:open"] = "approval:open"
    thread_id: str | None = None
    """The conversation; absent for a task"""
    task_id: str | None = None
    """The task; absent for a conversation"""
    run_id: str | None = None
    """The run; absent for a server"""
    tool_call_id: str | None = None
    """The id of the call, if there is one"""
    tool_name: str | None = None
    """The tool of the call, if there is one"""


class ApprovalPreview(Model):
    """What an open tool call would change, as the files are now. They may change until the call
    runs
    """

    changes: list[PathChange]
    """The paths that the call would change; empty for calls of which that is not known beforehand,
    such as commands. A `diff` is cut to 16 Ki characters
    """
    ran: ApprovalPreviewRan | None = None
    """A command that was tried out: how it ended. None of its effects is kept"""
    note: str | None = None
    """What else the call would change, such as the encoding of the file; a sentence"""
    refused: str | None = None
    """Why the call would fail now"""
    preview_digest: str | None = None
    """Digest of this preview: a decision that sends it is bound to what the preview shows, not to
    what was there when the call was asked
    """


class ApproveBody(Model):
    """The conversation so far. Its last message holds the decisions: role "tool", with a part {
    type: "tool-approval-response", approvalId, approved, reason?, scope?, until? } for each
    approval request; questions take `answers` in place of `approved`. A run keeps the `options`
    with which it began: `options` in this body are a 400
    """

    messages: list[Message] | None = None
    """The conversation so far, in the AI SDK's message format"""
    message: Message | None = None
    cwd: str | None = None
    """Working directory for relative paths and commands"""
    context: RunContext | None = None
    id: str | None = None
    """Up to 128 printable characters without "/" """
    continue_: bool | None = None
    """With `id` and without messages: goes on after the last run of the thread, which stopped,
    failed or was interrupted
    """
    resumable: bool | None = None
    """The run continues when its client disconnects; GET /run/{id}/stream reads it again"""
    waiting: Annotated[Literal["withdraw", "keep"], AnyText] | None = None
    """How to treat approvals and questions that the conversation waits for: `withdraw`, by default,
    takes them back; `keep` refuses the message with 409 `ERR_CONVERSATION_WAITS`
    """
    trigger: Any = None
    """Sent by chat clients. A request with "regenerate-message" never decides an approval request
    """
    message_id: Any = None
    """Sent by chat clients: the message that is continued"""


class AskReason(Model):
    """Why a call asks: the rule that asked, and its reason"""

    policy: Annotated[Literal[
        "toolPermission",
        "writtenAsText",
        "workingCopy",
        "addresses",
        "toolQuestion",
        "stillAsShown",
    ], AnyText]
    """toolPermission: the tool asks, by what it can do or by config.permissions; writtenAsText: the
    model wrote the call as text; workingCopy: it would change more than the copy that the run works
    in; addresses: the agent put an address together; toolQuestion: the tool asks about this very
    call; stillAsShown: it was approved, and would not do what was shown
    """
    text: str
    """The reason in a sentence, for the user"""


class Attachment(Model):
    """A stored file that messages can name"""

    url: str
    """What a file part of a message names: `{ "type": "file", "url": "attachment:…", "mediaType":
    "…" }`
    """
    digest: str
    """The digest in the address of an attachment"""
    media_type: str
    """The type by the bytes, else by the request"""
    bytes: int
    name: str | None = None


class Authorizing(Model):
    """The server is saved, and connected once its user has authorized the service"""

    authorization_url: str
    """The page at which the user authorizes the service, to be opened in a browser within 10
    minutes
    """
    status: Literal["authorizing"] = "authorizing"


class BackupContents(Model):
    """Part of a larger object of the service: BackupContents."""

    facts: int
    """What the memory holds"""
    threads: int
    """Conversations"""
    messages: int
    """Messages of conversations"""
    tasks: int
    """Tasks"""
    runs: int
    """Runs of conversations and tasks"""
    attachments: int
    """Attached files"""
    agents: int
    """Agents"""


class Boundary(Model):
    """Commands: where the command would run"""

    is_: Annotated[Literal["confined", "networked", "outside"], AnyText]
    """confined: in a box without network; networked: in a box whose network leads to the named
    hosts; outside: as its user
    """
    text: str
    """The same in words, for the user"""


class Brain(Model):
    """The facts, preferences and patterns that the service remembers of its user"""

    facts: list[str]
    """Statements about the user that are known, newest last"""
    preferences: dict[str, str]
    """The preferences of the user: values by key"""
    patterns: list[Pattern]
    """Requests that recur; DELETE /memory/brain/facts/:id removes one"""
    updated_at: int
    """Time of the last change in milliseconds since the Unix epoch; 0 before the first change"""


class BrainCleared(Model):
    """The brain was cleared"""

    status: Literal["cleared"] = "cleared"


class BrainView(Model):
    """The brain, and the text that it adds to the system prompt"""

    brain: Brain
    context_preview: str
    """The facts and preferences as the system prompt of a new conversation states them: what is
    pinned or important, then the newest. With accepted instructions and patterns, which stand in
    sections of their own, it has at most 1,500 tokens
    """


class Budget(Model):
    """Limits of the run. When its money or tokens are spent, it asks whether it may go on, where
    somebody can be asked; else, and when its minutes are over, it ends
    """

    usd: float | None = None
    """US dollars"""
    tokens: int | None = None
    """Tokens of input and output, over all model calls"""
    minutes: float | None = None
    """Working time in minutes, without the time of waiting for approvals; 4 hours at most unless
    config.json says otherwise
    """


class BufferAnswer(Model):
    """The text of a file as an editor shows it"""

    text: str | None = None
    """The text that the editor shows; absent where it does not have the file open"""


class BufferRequests(Model):
    """Files of which an editor is asked whether it has changes that are not saved"""

    requests: list[BufferRequestsRequestsItem]


class BufferTaken(Model):
    """The outcome of an answer of an editor"""

    taken: bool
    """false: the answer came too late"""


class CallServer(Model):
    """Tools of tool servers: whose tool it is"""

    name: str
    """The name of the server in config.json"""
    title: str | None = None
    """The name of the tool for people, as the server has it"""
    destructive: bool | None = None
    """The server says that the tool may destroy something. Always true"""


class ChatCompletion(Model):
    """The answer in one piece"""

    id: str
    """`chatcmpl-` and the id of the run"""
    created: int
    """Seconds since the Unix epoch"""
    model: str
    """The name in the request"""
    choices: list[ChatCompletionChoicesItem]
    usage: ChatCompletionUsage
    """Tokens of all model calls for this answer"""
    object: Literal["chat.completion"] = "chat.completion"


class ChatCompletionBody(Model):
    """A conversation in the format of OpenAI's chat completions"""

    model: str
    """The name of an agent, or `<provider>/<model>`"""
    messages: list[ChatCompletionBodyMessagesItem]
    """The whole conversation"""
    stream: bool | None = None
    stream_options: ChatCompletionBodyStreamOptions | None = Field(default=None, validation_alias="stream_options", serialization_alias="stream_options")
    tools: list[ChatCompletionBodyToolsItem] | None = None
    """Tools of the caller, which it executes itself"""
    tool_choice: str | None | ChatCompletionBodyToolChoice = Field(default=None, validation_alias="tool_choice", serialization_alias="tool_choice")
    parallel_tool_calls: bool | None = Field(default=None, validation_alias="parallel_tool_calls", serialization_alias="parallel_tool_calls")
    response_format: ChatCompletionBodyResponseFormat | None = Field(default=None, validation_alias="response_format", serialization_alias="response_format")
    max_completion_tokens: int | None = Field(default=None, validation_alias="max_completion_tokens", serialization_alias="max_completion_tokens")
    max_tokens: int | None = Field(default=None, validation_alias="max_tokens", serialization_alias="max_tokens")
    reasoning_effort: str | None = Field(default=None, validation_alias="reasoning_effort", serialization_alias="reasoning_effort")
    """none, minimal, low, medium, high, xhigh or max"""
    functions: list[dict[str, Any]] | None = None
    """Refused: the form before `tools`"""
    function_call: str | None | ChatCompletionBodyFunctionCall = Field(default=None, validation_alias="function_call", serialization_alias="function_call")
    """Refused: the form before `tool_choice`"""
    n: int | None = None
    """Only 1 is possible"""
    logprobs: bool | None = None
    """Only false is possible"""
    modalities: list[str] | None = None
    """Only text is possible"""
    cwd: str | None = None
    """Not of OpenAI: the working directory, as in `POST /run`"""


class ChatCompletionChunk(Model):
    """A piece of a streamed answer"""

    id: str
    """`chatcmpl-` and the id of the run"""
    created: int
    """Seconds since the Unix epoch"""
    model: str
    """The name in the request"""
    choices: list[ChatCompletionChunkChoicesItem]
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    usage: ChatCompletionChunkUsage | None = None
    """Tokens of all model calls for this answer"""


class ChatError(Model):
    """An error in OpenAI's shape, on the routes under `/v1` alone"""

    error: ChatErrorError


class ChatFunctionCall(Model):
    """Part of a larger object of the service: ChatFunctionCall."""

    name: str
    arguments: str
    """JSON"""


class ChatModel(Model):
    """An agent, or a model"""

    id: str
    """The name for `model`"""
    created: int
    """Seconds since the Unix epoch; of a model 0"""
    owned_by: str = Field(validation_alias="owned_by", serialization_alias="owned_by")
    """`agent`, or the provider of the model"""
    object: Literal["model"] = "model"


class ChatModelList(Model):
    """The agents, then the models of every provider; the active model is always among them"""

    data: list[ChatModel]
    object: Literal["list"] = "list"


class CheckedBackup(Model):
    """The backup is whole and can be read; nothing was changed"""

    created_at: int
    """Milliseconds since the Unix epoch"""
    version: str
    """The version of the service that made it"""
    records: int
    """Number of records in the backup"""
    bytes: int
    """Size of the file"""
    holds: BackupContents
    replaces: BackupContents
    """The present data of the service, which an import would replace"""
    status: Literal["checked"] = "checked"
    settings: dict[str, Any] | None = None
    """Programs, permissions and all else of the backup's config.json that differs from the one here
    and that only callers with a token may change, as GET /config shows it. `null`: the backup has
    no such key
    """
    kept: list[str] | None = None
    """Keys of config.json that an import leaves as they are: requests may change them only where
    the service has a token
    """
    busy: str | None = None
    """Work that must end before an import"""
    missing_bytes: int | None = None
    """The room on the disk that an import would lack"""


class CheckedClaim(Model):
    """An effect that the report says the run had"""

    claim: str
    effect: Annotated[Literal["file", "deletion", "command", "message", "other"], AnyText]
    """What kind of effect the report claims"""
    call: str | None
    """The id of the tool call that the judge named"""
    verdict: Annotated[Literal["confirmed", "contradicted", "unchecked"], AnyText]
    """confirmed: a completed call can have had this effect, which does not say that the work is
    right; contradicted: no call can, or the record of the files says otherwise; unchecked: it
    cannot be checked
    """
    target: str | None = None
    """The path, command or recipient"""
    count: float | None = None
    """How many files, messages or commands the report claims"""
    succeeded: bool | None = None
    """Whether the report says that the command succeeded"""
    reason: str | None = None
    """Why the claim is contradicted or unchecked"""


class Choice(Model):
    """One of the answers that a request of kind task can be given"""

    value: str
    """To be sent as "choice" """
    label: str
    """The choice in words"""


class Command(Model):
    """A command that runs in the background, after the call that started it"""

    command_id: str
    command: str
    """The command line"""
    run_id: str
    """The run that started it"""
    ports: list[int]
    """Ports of its box that can be reached at 127.0.0.1"""
    started_at: int
    """Milliseconds since the Unix epoch"""
    thread_id: str | None = None
    """The conversation that it belongs to"""
    task_id: str | None = None
    """The task whose run it belongs to"""


class CommandList(Model):
    """The commands that run in the background, the oldest first"""

    commands: list[Command]


class CommandStopped(Model):
    """The command has ended, with all that it started"""

    ok: bool


class Compaction(Model):
    """How a conversation was made to fit its model's context window. The stored thread stays
    complete
    """

    before: int
    """Estimated tokens of the whole conversation"""
    after: int
    """Tokens of the messages that were sent to the model"""
    outputs: int
    """Tool outputs that were left out"""
    summarised: int
    """Messages that were replaced by a summary"""
    dropped: int
    """Messages that were left out"""


class ConfigChangedEvent(Model):
    """Another configuration is in effect: GET /config has it"""

    keys: list[str]
    """The keys of config.json whose values have changed"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["config:changed"] = "config:changed"


class ConfigPatch(Model):
    """The keys of config.json to change, as docs/configuration.md names them, by JSON merge patch:
    objects are merged, lists and other values are replaced, and null removes a value
    """

    model: str | None = None
    """`<provider>/<model>`"""
    models: ConfigPatchModels | None = None
    context_windows: dict[str, int | None] | None = None
    prices: dict[str, ConfigPatchPricesValue | None] | None = None
    budget: ConfigPatchBudget | None = None
    mcp: list[dict[str, Any]] | None = None
    mcp_servers: dict[str, Any] | None = None
    mcp_client_metadata_url: str | None = None
    """An https address with a path, without user name, query and fragment"""
    servers: dict[str, Any] | None = None
    workspace: str | None = None
    port: int | None = None
    providers: dict[str, ConfigPatchProvidersValue | None] | None = None
    engine: str | None = None
    provider_options: dict[str, dict[str, Any] | None] | None = None
    notify: ConfigPatchNotify | None = None
    reach: ConfigPatchReach | None = None
    discovery: ConfigPatchDiscovery | None = None
    gateway: ConfigPatchGateway | None = None
    fetch: ConfigPatchFetch | None = None
    search: ConfigPatchSearch | None = None
    permissions: dict[str, Annotated[Literal["allow", "ask", "deny"], AnyText] | None] | None = None
    commands: ConfigPatchCommands | None = None
    skills: ConfigPatchSkills | None = None
    roots: list[str] | None = None
    allowed_origins: list[str] | None = None
    limits: ConfigPatchLimits | None = None
    tasks: ConfigPatchTasks | None = None
    brain: ConfigPatchBrain | None = None
    undo: ConfigPatchUndo | None = None
    threads: ConfigPatchThreads | None = None
    agent: ConfigPatchAgent | None = None
    awake: bool | None = None
    """false: the machine may fall asleep while the agent works"""
    analysis: bool | None = None
    offline: ConfigPatchOffline | None = None
    log: ConfigPatchLog | None = None


class ConfigReloaded(Model):
    """The content of config.json is now in effect"""

    status: Literal["reloaded"] = "reloaded"


class ConfigSaved(Model):
    """The change is in config.json and, but for `restart`, in effect"""

    config: ConfigView
    restart: list[str]
    """The changed keys that have an effect after a restart of the service"""
    status: Literal["saved"] = "saved"
    problem: str | None = None
    """Further errors in config.json: defaults replace those values"""


class ConfigureBody(Model):
    """Part of a larger object of the service: ConfigureBody."""

    model: str | None = None
    """`<provider>/<model>`: the model that the next run uses"""
    local_server: str | None = None
    """The `baseURL` of a model server that `GET /models?discover=true` finds on this machine: it
    becomes a provider of config.json, and its first model the active one unless `model` names
    another
    """
    local_file: str | None = None
    """The `path` of a model file that `GET /models?discover=true` finds on this machine: it becomes
    a model of the provider `local`, and the active one unless `model` names another
    """
    gateway_key: str | None = Field(default=None, validation_alias="gateway_key", serialization_alias="gateway_key")
    """The key of the model gateway, for the models of all its providers; stored encrypted. `null`
    removes a stored key
    """
    keys: dict[str, str | None] | None = None
    """Keys of direct providers by name; stored encrypted. A key of anthropic, openai or google
    makes that provider direct without an entry in config.json; other names must have one. `null`
    removes a stored key
    """


class Configured(Model):
    """The settings that apply from the next run on"""

    active_model: str = Field(validation_alias="active_model", serialization_alias="active_model")
    """`<provider>/<model>`"""
    gateway_configured: bool = Field(validation_alias="gateway_configured", serialization_alias="gateway_configured")
    status: Literal["configured"] = "configured"
    warning: str | None = None


class ConnectAddress(Model):
    """Part of a larger object of the service: ConnectAddress."""

    name: str
    """Up to 64 letters, digits, dots, dashes and underscores"""
    url: str
    """An http or https address such as https://example.com/mcp, without user name and fragment"""
    approval: Annotated[Literal["never", "always"], AnyText] | list[str] | None = None
    """The tools of the server whose calls need approval: all of them, none, or the named ones. By
    default, all but those that the server marks with readOnlyHint and its user has accepted as they
    are
    """
    timeout_ms: int | None = None
    """How long a call of a tool may take, milliseconds; 60,000 by default. Progress that the server
    reports starts it anew, for an hour at most
    """
    connect_ms: int | None = None
    """How long it may take to start and to connect, milliseconds; 60,000 by default, as a program
    may have to be installed first
    """
    tools: ToolFilter | None = None
    """Which tools of the server the agent is offered; all of them by default"""
    enabled: bool | None = None
    """False: the entry is kept, and the server is neither started nor connected"""
    headers: dict[str, str] | None = None
    client_id: str | None = None
    """The client that its user registered by hand at the authorization server; without it this
    service registers itself
    """
    client_secret: str | None = None
    """The secret of `clientId`; stored encrypted"""
    redirect_uri: str | None = None
    """The address on this machine with which the client was registered,
    http://127.0.0.1/oauth/callback by default. Without a port, any free one is used, as
    authorization servers compare the rest
    """


class ConnectProgram(Model):
    """Part of a larger object of the service: ConnectProgram."""

    name: str
    """Up to 64 letters, digits, dots, dashes and underscores"""
    command: str
    """Program to start, searched in the PATH; it is not interpreted by a shell"""
    approval: Annotated[Literal["never", "always"], AnyText] | list[str] | None = None
    """The tools of the server whose calls need approval: all of them, none, or the named ones. By
    default, all but those that the server marks with readOnlyHint and its user has accepted as they
    are
    """
    timeout_ms: int | None = None
    """How long a call of a tool may take, milliseconds; 60,000 by default. Progress that the server
    reports starts it anew, for an hour at most
    """
    connect_ms: int | None = None
    """How long it may take to start and to connect, milliseconds; 60,000 by default, as a program
    may have to be installed first
    """
    tools: ToolFilter | None = None
    """Which tools of the server the agent is offered; all of them by default"""
    enabled: bool | None = None
    """False: the entry is kept, and the server is neither started nor connected"""
    args: list[str] | None = None
    cwd: str | None = None
    """Its working folder; that of the service by default"""
    env: dict[str, str] | None = None
    """Environment variables of the program; stored encrypted"""
    sandbox: bool | ServerSandbox | None = None
    """The program runs in a box: without your home and secrets, with the network and the folders
    that are named alone. Where no box can be had, it is not started. `true`: no network and no
    folders
    """


class Connected(Model):
    """The server is connected and saved"""

    status: Annotated[Literal["connected", "disabled"], AnyText]
    """`disabled`: it was saved and not connected, as `enabled` is false"""
    tools: list[str]
    """Names of the tools that the server offers"""


class ConnectionTry(Model):
    """The attempt to connect that is under way"""

    since: int
    """When the attempt began, epoch milliseconds"""
    limit_ms: int
    """How long it may take: `connectMs` of its entry"""
    said: str | None = None
    """The newest line of its stderr that says what it does, such as what is installed"""


class CreateThreadBody(Model):
    """A new thread; unknown fields are stored with it"""

    id: str | None = None
    """Up to 128 printable characters without "/" """
    title: str | None = None
    """The title in lists; when it is empty, the service makes one"""
    settings: ThreadSettings | None = None
    messages: list[Message] | None = None
    restore: bool | None = None
    """PUT only: brings back a deleted thread first, if `DELETE /threads/:id?restorable=true`
    deleted it in the last 30 days
    """


class DataCompactionEvent(Model):
    """The conversation was too long for its model and was shortened for it"""

    data: Compaction
    transient: bool
    """Always true"""
    type: Literal["data-compaction"] = "data-compaction"


class DataNoticeEvent(Model):
    """The model, or its server, did not take all that it was sent; or no task was made of a request
    that names a time
    """

    data: DataNoticeEventData
    transient: bool
    """Always true"""
    type: Literal["data-notice"] = "data-notice"


class DataObjectEvent(Model):
    """The structured answer that options.object asks for"""

    data: DataObjectEventData
    type: Literal["data-object"] = "data-object"
    id: Literal["object"] = "object"


class DataPlanEvent(Model):
    """The plan of the run, as its model has just shown it; it replaces an earlier one"""

    data: AgentPlan
    type: Literal["data-plan"] = "data-plan"
    id: Literal["plan"] = "plan"


class DataRetryEvent(Model):
    """The answer of the model broke off in the middle, and the model is asked again. Drop what came
    since the last start-step
    """

    data: DataRetryEventData
    type: Literal["data-retry"] = "data-retry"


class DataRevisionEvent(Model):
    """The answer was reviewed and written again, and the calls contradict this version less than
    the text before: show it in its place
    """

    data: DataRevisionEventData
    type: Literal["data-revision"] = "data-revision"
    id: Literal["revision"] = "revision"


class DataSteerEvent(Model):
    """What the user said while the run was under way. It stands before the step that reads it: a
    message of the user within the answer
    """

    data: Steer
    type: Literal["data-steer"] = "data-steer"
    id: str | None = None
    """The same as data.id; absent while it waits"""
    transient: bool | None = None
    """It waits, and is no part of the answer yet. Always true"""


class DataStoppedEvent(Model):
    """The run ends before its model said that it was done"""

    data: Stopped
    type: Literal["data-stopped"] = "data-stopped"


class DataTaskEvent(Model):
    """The run created and started a background task for the request. The text of the answer says
    so, too
    """

    id: str
    """The same as data.taskId"""
    data: RunTask
    type: Literal["data-task"] = "data-task"


class DataWaitingEvent(Model):
    """Nothing has come from the model for ten seconds or more"""

    data: DataWaitingEventData
    transient: bool
    """Always true"""
    type: Literal["data-waiting"] = "data-waiting"


class DecidedApproval(Model):
    """The approval request after the decision"""

    approval_id: str
    state: ApprovalState
    """pending → approved or denied; approved → executing → done, or unknown when the service ended
    meanwhile; a question: pending → answered or declined; a choice about a task: pending →
    answered; or expired; or withdrawn
    """
    continued: bool
    """Whether the run went on: false while other requests of the same step are open, and for a
    result, which ends its run. Kind task: whether the choice began the run `runId`
    """
    run_id: str | None = None
    """Absent for kinds server and task"""
    thread_id: str | None = None
    """The conversation of the run; absent for a task"""
    task_id: str | None = None
    """The task of the run; absent for a conversation"""
    released: list[str] | None = None
    """The other requests of the run that a decision with a scope covers: they are approved with it
    """
    learned: Learned | None = None


class Departure(Model):
    """A difference of a run from the rehearsal whose sheet was accepted before it"""

    how: Annotated[Literal["asked", "denied", "unused"], AnyText]
    """asked: it asked for the call; denied: the call was denied; unused: it did nothing that this
    accepted line covers
    """
    tool_name: str
    about: str
    """What the call is about, shortened: a path, a command, host and path of an address, or the
    first fields of its input
    """
    is_shown: bool
    """Whether the rehearsal has shown the call"""
    text: str
    """The departure as a sentence"""
    why: Annotated[Literal["tool_changed", "grant_ended"], AnyText] | None = None
    """Why what was accepted did not cover the call. tool_changed: its tool was changed since the
    rehearsal; grant_ended: the grant of its line has ended
    """
    more: int | None = None
    """The number of further departures of this kind, which are not listed"""


class Device(Model):
    """A device that was paired with `local-agent reach` and may decide approvals"""

    device_id: str
    name: str
    """The name that the person gave it"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    last_used_at: int
    """When it was last used, to the hour"""
    lapses_at: int
    """When its key ends if it is not used until then"""


class DeviceList(Model):
    """The paired devices, and where they reach the service"""

    devices: list[Device]
    url: str | None = None
    """Where the port for devices listens; absent while it does not"""
    address: str | None = None
    """The https address in front of it, of config.json"""
    problem: str | None = None
    """Why the port for devices does not listen, though config.json wants it"""


class Digest(Model):
    """A summary of all tasks: their runs since a given time, their open approval requests and their
    next planned times; and of the conversations in which runs have ended
    """

    since: int
    """Milliseconds since the Unix epoch"""
    until: int
    """The `since` of the next request. It lies one second in the past, so that no event falls
    between two digests. Milliseconds since the Unix epoch
    """
    text: str
    """The digest as a few sentences"""
    tasks: DigestTasks
    """What happened, by task: first those with something new, by the time of their newest"""
    chats: DigestChats
    """Conversations in which runs have ended, by the time of the newest; not those that work or
    wait now
    """
    nothing_to_do: int
    """The number of runs that completed and had nothing to do; no list shows them"""
    completed: DigestRuns
    """Runs that completed since then and had something to do, newest first"""
    failed: DigestRuns
    """Runs that failed since then, newest first"""
    stopped: DigestRuns
    """Runs that were rejected, cancelled or interrupted since then, newest first"""
    not_run: DigestNotRun
    """Planned times without a run, with the reason: skipped on purpose or missed; newest first"""
    fired: DigestFired
    """Triggers that fired for what happened while the service was away, or without a run; newest
    first
    """
    waiting: DigestWaiting
    """Open approval requests and questions, whenever they were made, oldest first"""
    waiting_for_app: DigestWaitingForApp
    """Open calls of tools of applications, whenever they were made, oldest first"""
    working: DigestWorking
    """Runs that are executing or queued, oldest first"""
    failing: DigestFailing
    """Tasks whose last five runs or more have failed, and which are tried less often; newest first
    """
    next: DigestNext
    """The next planned time of each task, earliest first"""
    damaged: list[str] | None = None
    """Ids of tasks that cannot be read and do not run"""


class DigestRun(Model):
    """Part of a larger object of the service: DigestRun."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    run_id: str
    run_number: int
    trigger: RunTrigger
    status: RunState
    started_at: int
    """Milliseconds since the Unix epoch"""
    completed_at: int
    """Milliseconds since the Unix epoch"""
    unasked: list[DigestUnasked]
    """Calls that ran without asking, and why they could"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""
    stands_for: int | None = None
    """For a catch-up run: the number of planned times that it replaces"""
    output: str | None = None
    """The output of the run, shortened"""
    error: str | None = None
    """Why the run did not complete, shortened"""
    review: Annotated[Literal[
        "approved",
        "rejected",
        "superseded",
        "expired",
    ], AnyText] | None = None
    """What became of the request to approve the result, of a run of a task that made one: a person
    approved or rejected it; the result of a newer run took its place; or nobody answered in time.
    Without an answer the run is completed
    """
    outcome: Annotated[Literal[
        "done",
        "nothing_to_do",
        "partly",
        "failed",
        "asks",
    ], AnyText] | None = None
    """How the run ended. done, nothing_to_do and partly are completed; absent when nobody judged"""
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    claims: list[CheckedClaim] | None = None
    """The first claims of the report"""
    evidence: Annotated[Literal[
        "confirmed",
        "contradicted",
        "unchecked",
        "not_needed",
    ], AnyText] | None = None
    """All claims together; not_needed: the report claims no effect"""
    judge: Annotated[Literal["model", "none"], AnyText] | None = None
    """none: no model judged the run, only its tool calls were looked at"""
    facts: str | None = None
    """What the run did by its recorded calls, written by code: calls by effect, files, commands
    with their exit codes, external calls. One line in English
    """
    differs: list[Departure] | None = None
    """Differences from the rehearsal whose sheet was accepted before it"""
    rehearsal_void: str | None = None
    """Why it asked, or was denied, though a rehearsal was accepted before it: a sentence"""


class DigestRuns(Model):
    """Runs that completed since then and had something to do, newest first"""

    items: list[DigestRun]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestSeen(Model):
    """Where the next digest of this reader begins, or what it tells of the task or conversation. It
    never goes back
    """

    client: str
    until: int
    """Milliseconds since the Unix epoch"""


class DigestSeenBody(Model):
    """How far a reader has seen the digest"""

    client: str
    """A name that a reader gives itself, such as console: up to 64 letters, digits, dots, dashes
    and underscores
    """
    until: int
    """`until` of the digest that was seen"""
    task_id: str | None = None
    """A UUID: only what happened to this task was seen"""
    thread_id: str | None = None
    """Up to 128 printable characters without "/": only this conversation was seen"""


class DigestUnasked(Model):
    """Calls of a run that did something and of which nobody was asked"""

    why: Annotated[Literal["grant", "copy", "run", "settings"], AnyText]
    """grant: a grant covers it; copy: it worked on a copy of the folder; run: its task or request
    lets it run without asking; settings: its tool does not ask
    """
    calls: list[DigestUnaskedCallsItem]
    more: int
    """The number of further calls"""
    grant_id: str | None = None
    """The grant, for DELETE /grants/:id"""
    covers: str | None = None
    """What the grant covers, in words; absent for one that has ended"""


class Disconnected(Model):
    """The server was stopped and deleted from the configuration"""

    name: str
    status: Literal["disconnected"] = "disconnected"
    warning: str | None = None
    """The access that could not be revoked at its authorization server"""


class Erased(Model):
    """All data was erased and cannot be restored. The service restarts: /events sends reset"""

    stays: list[str]
    """Files of the configuration directory that are kept"""
    status: Literal["erased"] = "erased"


class Error(Model):
    """The body of every error response"""

    error: str
    """A sentence that says what went wrong and what to do"""
    code: str
    """Stable machine-readable code; the examples are all codes of this version"""
    status_code: int
    details: list[ErrorDetail] | None = None
    changes: ReplacedChanges | None = None
    stderr: str | None = None
    """The latest stderr output of a tool server that could not be connected"""


class ErrorDetail(Model):
    """Part of a larger object of the service: ErrorDetail."""

    path: str
    message: str


class ErrorEvent(Model):
    """The run failed; the event finish follows"""

    error_text: str
    """A sentence that names the model that failed, what happened and what to do"""
    code: str
    """Stable machine-readable code, ERR_…"""
    type: Literal["error"] = "error"
    details: list[ErrorDetail] | None = None


class Evaluation(Model):
    """A judgement of an answer, from 0 to 1"""

    satisfied: bool
    """Whether the answer does what was asked, all of it"""
    score: float
    issues: list[str]
    outcome: Annotated[Literal[
        "done",
        "nothing_to_do",
        "partly",
        "failed",
        "asks",
    ], AnyText] | None = None
    """How the run ended. done, nothing_to_do and partly are completed; absent when nobody judged"""
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    claims: list[CheckedClaim] | None = None
    evidence: Annotated[Literal[
        "confirmed",
        "contradicted",
        "unchecked",
        "not_needed",
    ], AnyText] | None = None
    """All claims together; not_needed: the report claims no effect"""
    judge: Annotated[Literal["model", "none"], AnyText] | None = None
    """none: no model judged the run, only its tool calls were looked at"""


class Evidence(Model):
    """Part of a larger object of the service: Evidence."""

    at: int
    """Milliseconds since the Unix epoch"""
    thread_id: str | None = None
    task_id: str | None = None


class Extraction(Model):
    """Facts and preferences from the statements of the user in a thread"""

    facts: list[str]
    """The facts that are known from this thread"""
    preferences: dict[str, str]
    added: int
    """Number of facts and preferences that are new"""
    proposed: int
    """Number of new proposals, which wait for a person: GET /memory/brain/facts?state=proposed"""
    rejected: list[ExtractionRejectedItem] | None = None
    """Sentences that the model pointed at, and that the check of their words refused"""


class FactBody(Model):
    """Part of a larger object of the service: FactBody."""

    fact: str
    """A statement about the user, 1 to 2000 characters after trimming"""


class FactChange(Model):
    """known accepts a proposal or restores what was replaced; replaced hides; proposed asks again
    """

    fact: str | None = None
    """The text in the user's own words, 1 to 2000 characters after trimming"""
    pinned: bool | None = None
    """A pinned entry stays in the prompt, and learning never replaces it without asking"""
    important: bool | None = None
    """In the prompt, important entries come before newer ones. Unlike pinned entries, they can be
    replaced by learning
    """
    state: Annotated[Literal["known", "proposed", "replaced"], AnyText] | None = None
    """known: the models are told. proposed: waits for a person to accept it. replaced: hidden, can
    be restored
    """


class FactChanged(Model):
    """The fact and the brain after the change; `fact` is absent after a retraction was accepted"""

    brain: Brain
    status: Literal["changed"] = "changed"
    fact: KnownFact | None = None


class FactLearned(Model):
    """The brain after the change"""

    brain: Brain
    status: Literal["learned"] = "learned"


class FactList(Model):
    """A page of facts, newest first; nextCursor is present when there are more"""

    facts: list[KnownFact]
    next_cursor: str | None = None


class FactRemoved(Model):
    """The brain after the change"""

    brain: Brain
    status: Literal["removed"] = "removed"


class FileChange(Model):
    """A change of one path by one call of a run"""

    path: str
    """Absolute path"""
    kind: Annotated[Literal["created", "changed", "moved", "deleted"], AnyText]
    tool_call_id: str
    """The tool call, or the undo, that made the change"""
    tool_name: str
    """Its tool; `undo` for an undo"""
    at: int
    """Milliseconds since the Unix epoch"""
    can_undo: bool
    """Whether an undo of the run would take this path back now; with `why` `shared`, one that names
    it
    """
    from_: str | None = None
    """Where a moved file or folder was"""
    what: Annotated[Literal["file", "folder", "link", "other"], AnyText] | None = None
    """The kind of entry afterwards; for a deletion, before it"""
    mode: str | None = None
    """New permissions, octal, where they change"""
    link: str | None = None
    """Where a symbolic link leads then"""
    inner: int | None = None
    """Number of paths below a folder that change with it"""
    with_contents: bool | None = None
    """A folder with everything in it"""
    replaces: bool | None = None
    """A move takes the place of what is at the path. Always true"""
    diff: str | None = None
    """Unified diff, where both contents are text and known, or a note in parentheses why there is
    none
    """
    why: Annotated[Literal[
        "changed_since",
        "too_large",
        "link",
        "gone",
        "not_allowed",
        "undone",
        "shared",
        "repository-used-since",
        "opens",
        "failed",
    ], AnyText] | None = None
    """`changed_since`: the path is not as the run left it. `too_large`: no copy of what was there
    was kept. `link`: a symbolic link is in the way. `gone`: what the run left is not there any
    more, or the copy of what was there is not kept any more. `not_allowed`: the path is outside the
    folders that may be used now, or may not be written. `undone`: the path is as it was. `shared`:
    others may have changed it: a command of another run, or somebody while the command went on or
    the service was ended; an undo that names the path takes it back. `repository-used-since`: refs,
    index or HEAD of the git directory were changed after the run, so nothing of it is taken back.
    `opens`: programs obey it as soon as somebody opens or enters its folder (`.vscode`,
    `AGENTS.md`, hooks), so of a copy it is taken over only by an apply that names it. `failed`: an
    unexpected error, which the log names
    """


class FilesTrigger(Model):
    """Files that are new, changed or deleted. What .gitignore leaves out is not seen, and links are
    not followed
    """

    path: str
    """A folder, relative to the working directory of the task; one elsewhere must be one that file
    tools may read
    """
    type: Literal["files"] = "files"
    glob: str | None = None
    """A glob for its files: "*.pdf" (a name, in any folder), "in/**/*.csv" (a path below the
    folder). By default all
    """


class FinishEvent(Model):
    """The stream is complete. This is always the last event"""

    finish_reason: FinishReason
    """Why the run ended; "tool-calls" when it waits for approvals, answers or the application"""
    usage: Usage
    type: Literal["finish"] = "finish"
    stopped: Stopped | None = None
    answered_by: AnsweredBy | None = None
    """The model of the last step, and the effort that it was asked with; absent when no model
    answered
    """


class FinishStepEvent(Model):
    """A step ends"""

    type: Literal["finish-step"] = "finish-step"


class Firing(Model):
    """A firing of a trigger, and its fate"""

    id: str
    at: int
    """Milliseconds since the Unix epoch"""
    type: Annotated[Literal["files", "task"], AnyText]
    fate: Annotated[Literal["run", "coalesced", "skipped", "loop", "limit"], AnyText]
    """run: it became the run `runId`; coalesced: another firing of that moment began that run for
    it, too; skipped: left out on purpose (`reason`); loop: the task itself is among its causes;
    limit: the triggers had begun 20 runs within an hour
    """
    reason: str | None = None
    """Why it was skipped: paused (the task was paused), failing (the task is failing, and is tried
    less often) or budget (the tasks had used up their budget of the day)
    """
    run_id: str | None = None
    count: int | None = None
    """For several such firings in a row: their number; `at` is the last one"""
    causes: list[str] | None = None
    """The tasks whose runs led to it, the first cause first"""
    folder: str | None = None
    """files: real path of the folder"""
    files: list[FiringFilesItem] | None = None
    """files: the first of the changed files"""
    changed: int | None = None
    """files: their number"""
    away: bool | None = None
    """files: they changed while the service was away"""
    ends: list[FiringEndsItem] | None = None
    """task: the runs that ended"""


class FiringList(Model):
    """The triggers of a task, and a page of their firings, newest first"""

    triggers: list[TriggerState]
    firings: list[Firing]
    next_cursor: str | None = None


class Folder(Model):
    """A folder of this computer with the folders in it; names of files are not told"""

    path: str
    """The real path: links on the way are followed"""
    parts: list[FolderPartsItem]
    """The folders on the way to it, from the root or the drive on, and itself"""
    folders: list[FolderFoldersItem]
    """The folders in it, by name"""
    left_out: int
    """The number of further entries that fit and are not in the answer: narrow them by `prefix`"""
    hidden: int
    """The number of entries that are left out because their names begin with a dot"""
    problem: Annotated[Literal[
        "unreadable",
        "own",
        "system",
        "outside",
        "broken",
        "name",
    ], AnyText] | None = None
    """Why it cannot be chosen: `unreadable`, this user may not read it; `own`, it is the folder of
    the service itself; `system`, devices and the kernel; `outside`, no folder that file tools may
    use with the given `cwd`; `broken`, a link that leads nowhere; `name`, it cannot be written as
    text
    """
    is_cut: bool | None = None
    """It has so many entries that not all of them were looked at. Always true"""


class FolderPlaces(Model):
    """Folders to start from when choosing one"""

    home: str
    """The home folder of the user who runs the service"""
    workspace: str
    """The folder that runs work in when they name none"""
    roots: list[str]
    """Further folders that config.json lets the file tools use"""
    drives: list[str]
    """On Windows, the drives that are there"""
    recent: list[str]
    """Folders of conversations and tasks, the most recent first"""


class FollowUp(Model):
    """An undo of the changes of a run, or an apply of its copy, that changed something"""

    id: str
    """For GET /runs/{id}/changes and POST /runs/{id}/undo"""
    kind: Annotated[Literal["undo", "apply"], AnyText]
    """undo: it took back changes of the run; apply: it took over what was changed in the copy"""
    at: int
    """Milliseconds since the Unix epoch"""
    paths: int
    """The number of paths that it changed"""
    is_cut: bool | None = None
    """The end of the service, or a full disk, cut it off. The same request again completes it under
    the same id. Always true
    """


class Grant(Model):
    """A permission for calls of a tool in one conversation or task"""

    grant_id: str
    tool_name: str
    scope: Annotated[Literal[
        "exact",
        "file",
        "beside",
        "folder",
        "host",
        "sandbox",
        "tool",
    ], AnyText]
    """exact: the same input in the same working directory; file: this file with any content, and
    beside: new files with this extension in the folder, which approved runs have taught; folder:
    files with this extension in or below the folder; host: the tool at these hosts; sandbox: every
    command in the box of the folder; tool: every call of the tool
    """
    text: str
    """What the grant covers, in words"""
    cwd: str
    """Real path of the working directory of that call"""
    source: Annotated[Literal["answer", "request", "approved_runs", "rehearsal"], AnyText]
    """answer: given with the answer to an approval request; request: POST /grants; approved_runs:
    taught by the approved runs of a task; rehearsal: accepted of the sheet of a rehearsal
    """
    uses: int
    """Number of calls that it covered"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    thread_id: str | None = None
    """The conversation in which the grant holds"""
    task_id: str | None = None
    """The task in which the grant holds"""
    suspended: GrantSuspended | None = None
    """The grant rests since this file was written unasked, until a person approves the command
    again
    """
    input: Any = None
    """Input of the call that the grant was made of; absent for a long one, and for a whole tool"""
    folder: str | None = None
    """Scopes file, beside and folder: real path of the folder"""
    approval_id: str | None = None
    """Source answer: the approval request"""
    sheet: str | None = None
    """Source rehearsal: the runId of the rehearsal"""
    until: GrantLimits | None = None
    """When the grant ends: after a number of calls, at a time, or at what comes first"""
    last_used_at: int | None = None
    """Milliseconds since the Unix epoch"""
    ended_at: int | None = None
    """When it was found to be over; it covers nothing any more"""


class GrantBody(Model):
    """A grant for one conversation or one task"""

    tool_name: str
    scope: Scope
    """once: this call alone; exact: the same input in the same working directory; folder: files
    with this extension in or below the folder; host: this tool at the hosts of the call; sandbox:
    every command in the box of this folder; tool: every call of this tool of a tool server or of
    the application
    """
    thread_id: str | None = None
    """Up to 128 printable characters without "/" """
    task_id: str | None = None
    """A UUID"""
    input: dict[str, Any] | None = None
    """Input of a call that the grant covers; needed for every scope but tool"""
    cwd: str | None = None
    """Working directory of the calls; default: that of the task or the conversation, or the
    workspace
    """
    until: GrantLimits | None = None
    """When the grant ends: after a number of calls, at a time, or at what comes first"""


class GrantLimits(Model):
    """When the grant ends: after a number of calls, at a time, or at what comes first"""

    uses: int | None = None
    """Number of calls"""
    at: int | None = None
    """Milliseconds since the Unix epoch"""


class GrantList(Model):
    """A page of grants; nextCursor is present when there are more"""

    grants: list[Grant]
    next_cursor: str | None = None


class Health(Model):
    """The health of the service and of its parts"""

    status: Annotated[Literal["ok", "degraded"], AnyText]
    version: str
    """The version of the package and, after a plus sign, a digest of the build"""
    uptime_ms: int
    checks: HealthChecks
    """State of each part: "ok", or a description of the problem"""


class ImportProgress(Model):
    """How far an import, or the check of a backup, is"""

    step: Annotated[Literal["none", "receiving", "reading", "writing"], AnyText]
    """The present stage: the backup is received, read and checked, or its records are written to
    the disk
    """
    bytes: int
    """Bytes of the file that this stage has processed"""
    total: int | None = None
    """Size of the file, once it is known"""


class ImportServersBody(Model):
    """The servers that a README or the configuration file of another program names: as `text`, or
    as the object itself
    """

    text: str | None = None
    """The text that a README shows, unchanged: with comments, in a fenced block, or without the
    outer braces
    """
    mcp_servers: dict[str, Any] | None = None
    """Entries by name, as Claude Desktop and Cursor have them"""
    servers: dict[str, Any] | None = None
    """Entries by name, as VS Code has them"""
    mcp: dict[str, Any] | None = None
    """The settings of VS Code: `servers` and `inputs` below `mcp`"""
    inputs: list[Any] | None = None
    """The inputs of VS Code, which say what is asked for"""
    values: dict[str, str] | None = None
    """Values for the inputs of VS Code, by id; stored encrypted"""
    replace: bool | None = None
    """Whether servers of the same names are replaced; they stay by default"""


class Imported(Model):
    """The backup was imported; createdAt is the time of its export"""

    records: int
    """Number of records in the backup"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    status: Literal["imported"] = "imported"
    kept: list[str] | None = None
    """Keys of config.json that an import leaves as they are: requests may change them only where
    the service has a token
    """


class ImportedServer(Model):
    """The outcome of one entry"""

    from_: str
    """The name in what was sent"""
    name: str
    """The name of the connection"""
    status: Annotated[Literal[
        "saved",
        "replaced",
        "unchanged",
        "exists",
        "incomplete",
        "refused",
    ], AnyText]
    """`saved`, `replaced`: it is in config.json and being connected, or waits for its user with
    `variables`. `unchanged`: it was there with the same settings. Nothing was saved of the others:
    `exists`, another server has its name; `incomplete`, `inputs` lack values; `refused`, see
    `message`
    """
    message: str
    """What was done, and why, in a line"""
    inputs: list[ImportedServerInputsItem] | None = None
    """The inputs of VS Code that lack values"""
    variables: list[str] | None = None
    """The variables of the environment that it gets; it is not connected before it is accepted"""


class ImportedServers(Model):
    """The outcome of each entry, in the order of the request"""

    servers: list[ImportedServer]


class KnownFact(Model):
    """A fact, preference, instruction or pattern, and its source; without `source` it was added
    through the API
    """

    id: str
    fact: str
    """The words of the user; of a preference that was set through the API, `key: value`"""
    kind: Annotated[Literal["fact", "preference", "instruction", "pattern"], AnyText]
    """What it is: a statement, a value by key, a standing wish, or a request that recurs"""
    state: Annotated[Literal["known", "proposed", "replaced"], AnyText]
    """known: the models are told. proposed: waits for a person to accept it. replaced: hidden, can
    be restored
    """
    created_at: int
    """Milliseconds since the Unix epoch"""
    pinned: bool | None = None
    """Always true"""
    important: bool | None = None
    """It matters whatever is asked: only what is pinned comes before it in the prompt. Always true
    """
    key: str | None = None
    """Of a preference"""
    value: str | None = None
    """Of a preference"""
    asked: str | None = None
    """The question of the assistant that it answers, if it needs it"""
    on: str | None = None
    """The day, YYYY-MM-DD, that words such as "next Friday" meant when they were said"""
    source: KnownFactSource | None = None
    """The words of the user from which the fact was learned"""
    supersedes: str | None = None
    """The earlier fact that this one replaced or, while proposed, would replace"""
    replaces: list[str] | None = None
    """Ids of what it replaced or, while proposed, would replace"""
    replaced_by: str | None = None
    """Id of what took its place; absent when it was only taken back"""
    forgotten_at: int | None = None
    """When the user had it forgotten: it can be restored for 30 days from then"""
    retracts: bool | None = None
    """Accepting it hides what it replaces, and adds nothing. Always true"""
    confidence: float | None = None
    """Of a pattern"""
    evidence: list[Evidence] | None = None
    """The threads and tasks that hold the request, with the time of the message or of the run; the
    newest ones
    """


class Learned(Model):
    """What the approval of a result has taught the task. GET /grants lists it, DELETE /grants/:id
    ends it
    """

    in_force: bool
    """Whether later runs do it unasked from now on; false until enough runs were approved"""
    runs_left: int
    """Runs that are to be approved until then"""
    grants: list[LearnedGrantsItem]
    """With the answer that brings it in force, all that the task has learned; else what this answer
    has added
    """


class LiveRun(Model):
    """The run that the request reached"""

    ok: bool
    """Always true"""
    run_id: str
    thread_id: str | None = None
    """The conversation of the run"""
    task_id: str | None = None
    """The task of the rehearsal"""


class MemoryChangedEvent(Model):
    """The memory of the user has changed: GET /memory/brain has it. DELETE /memory/brain/facts/{id}
    erases what was learned
    """

    learned: list[MemoryChangedEventLearnedItem]
    """New entries, in the words of the user"""
    proposed: int
    """The number of new proposals, which wait for a person"""
    forgotten: list[str]
    """Ids of entries that were forgotten, replaced or erased"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["memory:changed"] = "memory:changed"
    thread_id: str | None = None
    """The conversation that all of it was learned from; absent for what was typed"""


class Message(Model):
    """Part of a larger object of the service: Message."""

    role: str
    """One of system, user, assistant, tool"""
    content: Any = None
    """A text, or a list of parts. A UIMessage has `parts` in its place"""


class ModelList(Model):
    """The models of every provider"""

    models: list[ModelListModelsItem]
    errors: list[ModelListErrorsItem]
    """Providers whose models could not be listed, and why"""
    discovered: list[ModelListDiscoveredItem] | None = None
    """The model servers of this machine; with `discover` only"""
    files: list[ModelListFilesItem] | None = None
    """Files of models that other programs left on this machine; with `discover` only"""


class ModelResponse(Model):
    """The answer in one piece, with the settings of its request"""

    id: str
    """`resp_` and the id of the run"""
    created_at: int = Field(validation_alias="created_at", serialization_alias="created_at")
    """Seconds since the Unix epoch"""
    status: Annotated[Literal["in_progress", "completed", "incomplete", "failed"], AnyText]
    error: ModelResponseError | None
    incomplete_details: ModelResponseIncompleteDetails | None = Field(validation_alias="incomplete_details", serialization_alias="incomplete_details")
    model: str
    """The name in the request"""
    output: list[ModelResponseOutputItem1 | ModelResponseOutputItem2 | ModelResponseOutputItem3]
    usage: ModelResponseUsage | None
    """Tokens of all model calls for this answer"""
    object: Literal["response"] = "response"


class NamedAgent(Model):
    """Options under a name, for conversations, runs and tasks"""

    name: str
    description: str
    """What the agent is for, for people who choose one"""
    options: NamedOptions
    created_at: int
    """Milliseconds since the Unix epoch"""
    updated_at: int
    """Milliseconds since the Unix epoch"""


class NamedOptions(Model):
    """The options of an agent, or of a conversation. Those of a run narrow them: each tool must be
    allowed by all, the least budget counts, and the instructions of all are told
    """

    model: str | None = None
    """`<provider>/<model>`: the model of role `capable` for this run, instead of the active model
    """
    instructions: str | None = None
    """The application's instructions, part of the system prompt"""
    allow_tools: list[str] | None = None
    """The run has these tools and no others; absent: all tools. Names, patterns of names such as
    `github_*`, or `server:<name>` for all tools of a tool server
    """
    deny_tools: list[str] | None = None
    """The run has no tools of these names. Names, patterns of names such as `github_*`, or
    `server:<name>` for all tools of a tool server
    """
    effort: Effort | None = None
    """How much the model reasons before it answers. Providers take the nearest effort that their
    model has
    """
    max_output_tokens: int | None = None
    """The greatest length of the answer of one model call, in tokens; providers count reasoning,
    too
    """
    max_steps: int | None = None
    """The number of steps with tools; by default 100, and 200 for a task"""
    budget: Budget | None = None
    """Limits of the run. When its money or tokens are spent, it asks whether it may go on, where
    somebody can be asked; else, and when its minutes are over, it ends
    """
    object: AnswerSchema | None = None
    """The answer is an object that fits the schema; the run fails otherwise"""
    app_tools: list[AppTool] | None = None
    """Tools that the application executes itself"""
    app: str | None = None
    """The application whose tools these are; calls can be listed by it"""
    sandbox: Annotated[Literal["auto", "required"], AnyText] | None = None
    """Which commands run in a box, where config.json lets more of them run outside. required: a
    command that cannot is refused
    """
    workspace: Annotated[Literal["folder", "copy"], AnyText] | None = None
    """copy: the run works on a copy of its folder, where file tools and commands in the box need no
    approval; POST /runs/{runId}/apply takes its changes over. For conversations
    """
    interactive: bool | None = None
    """true: the agent may ask the user questions; false: what would wait for a person is denied at
    once. Without it approvals wait; tasks may ask questions in the approval modes changes, always
    and first_n
    """


class Notification(Model):
    """What a person is to be told: that something waits, fails, is well again or needs a key"""

    notification_id: str
    kind: Annotated[Literal[
        "waiting",
        "failing",
        "recovered",
        "budget",
        "provider",
        "told",
        "boxed",
    ], AnyText]
    """waiting: approvals, questions or results wait for a person; failing: a task fails again and
    again; recovered: it is well again; budget: a limit stopped work; provider: a provider needs a
    key, or refuses the one it has; told: a task was asked to tell this; boxed: files that programs
    obey got another name after a command, which may be files of the person
    """
    title: str
    """A sentence without words of a task, a person or a model"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    reminder: bool
    """The notification is a day old, and still open"""
    needs_showing: bool
    """No client has claimed yet to show it"""
    deliveries: list[NotificationDeliveriesItem]
    """Attempts at the webhook, oldest first"""
    task_id: str | None = None
    """The task that it is about"""
    thread_id: str | None = None
    """The conversation that it is about"""
    run_id: str | None = None
    """The run that it is about"""
    provider: str | None = None
    """Kind provider: the name of the provider"""
    waits_for: list[WaitingItem] | None = None
    """Kind waiting: what is to be decided, as it was asked; GET /approvals has it whole"""
    text: str | None = None
    """The name of the task and the words of its model, shortened. They stay on this machine unless
    config.json says otherwise
    """
    shown_at: int | None = None
    """Milliseconds since the Unix epoch"""
    closed_at: int | None = None
    """Milliseconds since the Unix epoch"""


class NotificationClosedEvent(Model):
    """The notification is over: clients can take it off the screen"""

    notification_id: str
    count: int
    """The number of things that are open now, for a badge"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["notification:closed"] = "notification:closed"
    thread_id: str | None = None
    """The conversation; absent for a task"""
    task_id: str | None = None
    """The task; absent for a conversation"""


class NotificationEvent(Model):
    """There is a notification for a person. A client claims it before it shows it: POST
    /notifications/{id}
    """

    notification_id: str
    kind: Annotated[Literal[
        "waiting",
        "failing",
        "recovered",
        "budget",
        "provider",
        "told",
        "boxed",
    ], AnyText]
    """waiting: approvals, questions or results wait for a person; failing: a task fails again and
    again; recovered: it is well again; budget: a limit stopped work; provider: a provider needs a
    key, or refuses the one it has; told: a task was asked to tell this; boxed: files that programs
    obey got another name after a command, which may be files of the person
    """
    title: str
    """A sentence without words of a task, a person or a model"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    reminder: bool
    """The notification is a day old, and still open"""
    count: int
    """The number of things that are open now, for a badge"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["notification"] = "notification"
    task_id: str | None = None
    """The task that it is about"""
    thread_id: str | None = None
    """The conversation that it is about"""
    run_id: str | None = None
    """The run that it is about"""
    provider: str | None = None
    """Kind provider: the name of the provider"""
    waits_for: list[WaitingItem] | None = None
    """Kind waiting: what is to be decided, as it was asked; GET /approvals has it whole"""
    text: str | None = None
    """The name of the task and the words of its model, shortened. They stay on this machine unless
    config.json says otherwise
    """


class NotificationList(Model):
    """The open notifications, or those that closed within a week; newest first"""

    notifications: list[Notification]
    count: int
    """The number of open items, for a badge. Each approval counts as one"""


class NotificationShown(Model):
    """The outcome of a claim to show a notification: the first claim counts"""

    notification_id: str
    first: bool
    """Whether the caller is the one to show it: false when another client has claimed it, or it is
    over
    """
    shown_at: int | None = None
    """Milliseconds since the Unix epoch"""
    closed_at: int | None = None
    """Milliseconds since the Unix epoch"""


class NotificationShownBody(Model):
    """Claims a notification, before it is shown"""

    shown: bool
    """Always true"""


class PathChange(Model):
    """The planned change of one path"""

    path: str
    """Absolute path"""
    kind: Annotated[Literal["created", "changed", "moved", "deleted"], AnyText]
    from_: str | None = None
    """Where a moved file or folder was"""
    what: Annotated[Literal["file", "folder", "link", "other"], AnyText] | None = None
    """The kind of entry afterwards; for a deletion, before it"""
    mode: str | None = None
    """New permissions, octal, where they change"""
    link: str | None = None
    """Where a symbolic link leads then"""
    inner: int | None = None
    """Number of paths below a folder that change with it"""
    with_contents: bool | None = None
    """A folder with everything in it"""
    replaces: bool | None = None
    """A move takes the place of what is at the path. Always true"""
    diff: str | None = None
    """Unified diff, where both contents are text and known, or a note in parentheses why there is
    none
    """


class Pattern(Model):
    """A request that recurred in at least three threads or runs"""

    id: str
    pattern: str
    """The user's request, in their own words"""
    confidence: float
    """Grows with the number of threads and runs in `evidence`"""
    evidence: list[Evidence]
    """The threads and tasks that hold the request, with the time of the message or of the run; the
    newest ones
    """
    updated_at: int
    """Milliseconds since the Unix epoch"""


class Phase(Model):
    """A part of a plan and its status"""

    id: str
    description: str
    status: Annotated[Literal["pending", "running", "completed", "failed", "skipped"], AnyText]


class Plan(Model):
    """The phases of a task and the quality criteria of its result"""

    phases: list[Phase]
    quality_criteria: list[str]
    source: Annotated[Literal["model", "user", "fallback"], AnyText]
    """The author of the plan; fallback: no model was available, so the goal is the only phase"""
    expects: Annotated[Literal["none", "files", "message", "command"], AnyText] | None = None
    """The effect that a run is to leave: files written, moved or deleted, a message to somebody, a
    command that ran, or none. A run that says it is done and left no such effect is marked
    `verified: false`. Absent: not known
    """


class PlanInput(Model):
    """A plan that the client gives, instead of one that a model makes"""

    phases: list[PlanInputPhasesItem]
    quality_criteria: list[str] | None = None
    expects: Annotated[Literal["none", "files", "message", "command"], AnyText] | None = None
    """The effect that a run is to leave: files written, moved or deleted, a message to somebody, a
    command that ran, or none. A run that says it is done and left no such effect is marked
    `verified: false`. Absent: not known
    """


class PreferenceBody(Model):
    """Part of a larger object of the service: PreferenceBody."""

    key: str
    """1 to 200 characters after trimming"""
    value: str
    """Stored unchanged, up to 2000 characters"""


class PreferenceKey(Model):
    """Part of a larger object of the service: PreferenceKey."""

    key: str
    """1 to 200 characters after trimming"""


class PreferenceSet(Model):
    """The brain after the change"""

    brain: Brain
    status: Literal["set"] = "set"


class PreviewScheduleBody(Model):
    """Either a schedule, or a time in words"""

    schedule: Schedule | None = None
    text: str | None = None
    """A time in words: "tomorrow at 5pm" """
    timezone: str | None = None
    """With `text`: the time zone that it is read in"""


class Prompt(Model):
    """A prompt of a tool server, for a person to choose"""

    server: str
    name: str
    arguments: list[PromptArgumentsItem]
    title: str | None = None
    """Its name for people"""
    description: str | None = None
    icons: list[dict[str, Any]] | None = None
    """As the server gives them: an address is not loaded by the service, and need not be trusted"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""


class PromptList(Model):
    """The prompts of the connected tool servers"""

    prompts: list[Prompt]
    failed: list[ServerFailure]
    """Servers that did not list their prompts"""


class ProviderList(Model):
    """The providers of models, and the models in use"""

    active_model: str = Field(validation_alias="active_model", serialization_alias="active_model")
    """`<provider>/<model>`"""
    gateway_configured: bool = Field(validation_alias="gateway_configured", serialization_alias="gateway_configured")
    providers: list[ProviderListProvidersItem]
    roles: ProviderListRoles
    reach: ProviderListReach
    """Where the model server of each role is: on this machine, in the user's own network, or
    elsewhere (cloud). A role for which config.json names no model stays with the provider of the
    active model
    """


class ProviderTested(Model):
    """The result of the test call"""

    ok: bool
    model: str
    """`<provider>/<model>`"""
    latency_ms: int
    """Duration of the call in milliseconds"""
    error: str | None = None
    """What went wrong, and what to do"""
    code: str | None = None
    """The code of the error, such as ERR_PROVIDER_AUTH for a key that the provider refuses"""
    said: str | None = None
    """The provider's own words about the error, without keys"""
    findings: list[ProviderTestedFindingsItem] | None = None
    """What a thorough test has found; absent when the first call failed"""


class Question(Model):
    """A question of the agent to its user"""

    id: str
    """Names the question in the answers"""
    text: str
    """The question as the user reads it"""
    options: list[QuestionOptionsItem] | None = None
    """What the user can choose; without it the answer is a text"""
    multi: bool | None = None
    """The user may give several answers"""
    free: bool | None = None
    """The user may also answer in own words, beside the options"""
    required: bool | None = None
    """The question cannot be left unanswered"""


class QuestionClosedEvent(Model):
    """Live questions cannot be answered any more"""

    approval_id: str
    """Id of the questions, for POST /approvals/{id}"""
    state: Annotated[Literal["pending", "answered", "declined", "expired", "withdrawn"], AnyText]
    """withdrawn: the call that asked has ended"""
    type: Literal["question-closed"] = "question-closed"
    tool_call_id: str | None = None
    """The call that asks"""


class QuestionRequestEvent(Model):
    """The agent asks its user. The stream ends after the last request of a step; POST
    /approvals/{approvalId} or POST /run/approve with answers continues the run. With live, a tool
    server asks: the stream goes on, and POST /approvals/{approvalId} answers
    """

    approval_id: str
    """Id of the questions, for POST /approvals/{id}"""
    questions: list[Question]
    expires_at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["question-request"] = "question-request"
    tool_call_id: str | None = None
    """The call that asks"""
    budget: ReachedBudget | None = None
    live: bool | None = None
    """A tool server asks, and its call goes on: no step waits for the answer. Always true"""
    server: str | None = None
    """The tool server that asks, and that gets the answers"""
    url: str | None = None
    """The address that the server wants the user to open: https, or http on this computer"""


class ReachedBudget(Model):
    """A budget that is used up; the run goes on when its user allows more"""

    of: Annotated[Literal["run", "day"], AnyText]
    """run: `options.budget` of the run; day: `budget.day` in config.json, for all calls of the day
    """
    unit: Annotated[Literal["usd", "tokens"], AnyText]
    """What the budget counts"""
    spent: float
    """The amount spent when the run stopped to ask"""
    limit: float
    """The present limit"""
    more: float
    """The amount that a yes adds to the amount spent"""
    day: str | None = None
    """The day of the service that a yes holds for, such as 2026-01-31: until its midnight"""


class Ready(Model):
    """Whether the service accepts new work"""

    ready: bool


class ReasoningDeltaEvent(Model):
    """A piece of thinking"""

    id: str
    """Id of the block; all events of a block have the same id"""
    content: str
    delta: str
    """The same text as content, under the name that the AI SDK uses"""
    type: Literal["reasoning-delta"] = "reasoning-delta"


class ReasoningEndEvent(Model):
    """A block of thinking ends"""

    id: str
    """Id of the block; all events of a block have the same id"""
    type: Literal["reasoning-end"] = "reasoning-end"


class ReasoningStartEvent(Model):
    """A block of thinking begins"""

    id: str
    """Id of the block; all events of a block have the same id"""
    type: Literal["reasoning-start"] = "reasoning-start"
    provider_metadata: ReasoningStartEventProviderMetadata | None = None
    """Present when the block is the analysis of the request; absent for the model's own thinking"""


class Rehearsal(Model):
    """A rehearsal of a task"""

    run_id: str
    """For GET /runs/:runId and GET /runs/:runId/sheet"""
    status: RunState
    started_at: int
    """Milliseconds since the Unix epoch"""
    lines: int
    """The number of lines of its sheet"""
    accepted: int
    """The number of lines that were accepted"""
    completed_at: int | None = None
    """Milliseconds since the Unix epoch"""
    void: str | None = None
    """Why nothing of its sheet counts any more"""


class RehearsalBegun(Model):
    """The rehearsal that was begun"""

    ok: bool
    """Always true"""
    task_id: str
    run_id: str
    """For GET /runs/:runId?waitMs= and GET /runs/:runId/sheet"""


class RehearsalList(Model):
    """The rehearsals of a task that are kept, newest first"""

    rehearsals: list[Rehearsal]


class RemovedDevice(Model):
    """The key of the device has ended"""

    ok: bool
    """Always true"""
    device_id: str


class RemovedGrant(Model):
    """The grant has ended"""

    ok: bool
    """Always true"""
    grant_id: str


class ReplacedChanges(Model):
    """The result, or the plan, of the undo for the answers that a message replaces"""

    restored: list[str]
    """The paths that were restored, or would be. The first 100"""
    restored_count: int
    skipped: list[SkippedPath]
    """The paths that stay as they are, and why. The first 100"""
    skipped_count: int
    not_covered_count: int
    """The number of calls whose effects nobody here knows, and that an undo does not cover"""
    undo_ids: list[str]
    """The undos, in their order. POST /runs/{undoId}/undo, the last one first, takes them back"""


class ResetEvent(Model):
    """Events are missing before this one: read the state anew. The next events follow"""

    reason: str
    """restarted: the service was started since; too_old: the events are gone; unknown: not an id"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["reset"] = "reset"


class Resource(Model):
    """The content of a resource, up to 5 MB, with known secrets replaced"""

    server: str
    uri: str
    contents: list[ResourceContentsItem]


class ResourceEntry(Model):
    """A resource of a tool server"""

    server: str
    uri: str
    """Its address, by which it is read"""
    name: str
    title: str | None = None
    """Its name for people"""
    description: str | None = None
    icons: list[dict[str, Any]] | None = None
    """As the server gives them: an address is not loaded by the service, and need not be trusted"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""
    mime_type: str | None = None
    annotations: dict[str, Any] | None = None
    """The server's: `audience` says for whom it is, the user or models"""
    size: float | None = None
    """Bytes"""


class ResourceList(Model):
    """The resources of the connected tool servers, with the templates of the addresses of further
    ones
    """

    resources: list[ResourceEntry]
    templates: list[ResourceTemplate]
    failed: list[ServerFailure]
    """Servers that did not list their resources; all others are complete up to the limits"""
    cut: list[str]
    """Servers that have more resources or templates than are listed: 1,000 of each"""


class ResourceTemplate(Model):
    """The addresses of resources that no list names"""

    server: str
    uri_template: str
    """The address of further resources, with what is to be filled in in braces (RFC 6570)"""
    name: str
    title: str | None = None
    """Its name for people"""
    description: str | None = None
    icons: list[dict[str, Any]] | None = None
    """As the server gives them: an address is not loaded by the service, and need not be trusted"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""
    mime_type: str | None = None
    annotations: dict[str, Any] | None = None
    """The server's: `audience` says for whom it is, the user or models"""


class ResponseBody(Model):
    """A conversation in the format of OpenAI's responses"""

    model: str
    """The name of an agent, or `<provider>/<model>`"""
    input: str | list[ResponseBodyInput2Item] | None = None
    """The whole conversation"""
    instructions: str | None = None
    stream: bool | None = None
    tools: list[ResponseBodyToolsItem] | None = None
    """Tools of the caller, which it executes itself"""
    tool_choice: str | None | ResponseBodyToolChoice = Field(default=None, validation_alias="tool_choice", serialization_alias="tool_choice")
    parallel_tool_calls: bool | None = Field(default=None, validation_alias="parallel_tool_calls", serialization_alias="parallel_tool_calls")
    text: ResponseBodyText | None = None
    max_output_tokens: int | None = Field(default=None, validation_alias="max_output_tokens", serialization_alias="max_output_tokens")
    reasoning: ResponseBodyReasoning | None = None
    metadata: dict[str, str] | None = None
    """Sent back in the answer"""
    previous_response_id: str | None = Field(default=None, validation_alias="previous_response_id", serialization_alias="previous_response_id")
    """Refused: nothing is kept, send the whole conversation as input"""
    conversation: str | None | ResponseBodyConversation = None
    """Refused, as previous_response_id"""
    background: bool | None = None
    """Only false is possible"""
    prompt: dict[str, Any] | None = None
    """Refused: there are no stored prompts"""
    cwd: str | None = None
    """Not of OpenAI: the working directory, as in `POST /run`"""


class ResponseEvent(Model):
    """An event of a streamed answer, with the fields that OpenAI's event of this type has"""

    type: str
    """Such as response.created, response.output_text.delta and response.completed"""
    sequence_number: int = Field(validation_alias="sequence_number", serialization_alias="sequence_number")
    """Counted from 0"""


class Run(Model):
    """One run, of a conversation or a task"""

    run_id: str
    trigger: RunTrigger | Literal["message"]
    """message: a request of a conversation"""
    status: RunState
    queued_at: int
    """Milliseconds since the Unix epoch"""
    started_at: int
    """The time at which the run began; while it is queued, the time of queueing. Milliseconds since
    the Unix epoch
    """
    tool_calls: list[TaskToolCall]
    tool_count: int
    steering: list[str]
    """The steering comments that this run got first"""
    questions: list[TaskQuestion]
    """Open approval requests"""
    usage: Usage
    attempts: int
    """Number of attempts: the first start and each continuation after an interruption"""
    task_id: str | None = None
    """The task of the run; absent for a run of a conversation"""
    run_number: int | None = None
    """Runs of tasks only"""
    completed_at: int | None = None
    """Milliseconds since the Unix epoch"""
    duration_ms: int | None = None
    """Milliseconds from start to end"""
    output: str | None = None
    """The final text; of a run that wrote none, its object as JSON. Of a report that was reviewed
    and written again, the version that the tool calls contradict less; the first if they contradict
    both alike
    """
    other_output: str | None = None
    """The other version of a report that was written again after its review"""
    object: dict[str, Any] | None = None
    """The structured answer; it fits options.object.schema"""
    error: str | None = None
    """Why the run did not complete, or waits for its model provider"""
    failure: RunFailure | None = None
    retry_at: int | None = None
    """Of a queued run whose model provider is down: the time at which it goes on from its last step
    """
    review: Annotated[Literal[
        "approved",
        "rejected",
        "superseded",
        "expired",
    ], AnyText] | None = None
    """What became of the request to approve the result, of a run of a task that made one: a person
    approved or rejected it; the result of a newer run took its place; or nobody answered in time.
    Without an answer the run is completed
    """
    stopped: Stopped | None = None
    phases: list[Phase] | None = None
    """Runs of tasks only"""
    quality_score: float | None = None
    evaluation: TaskEvaluation | None = None
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    facts: str | None = None
    """What the run did by its recorded calls, written by code: calls by effect, files, commands
    with their exit codes, external calls. One line in English
    """
    input: Any = None
    """The data that the run began with; only in the answer for a single run"""
    input_bytes: int | None = None
    """The size of the input as JSON, bytes"""
    steered: list[Steer] | None = None
    """Messages of the user during the run"""
    answered_by: AnsweredBy | None = None
    """The model of the last step, and the effort that it was asked with; absent when no model
    answered
    """
    options: RunOptions | None = None
    planned_at: int | None = None
    """The planned time that began the run, in milliseconds since the Unix epoch; absent for other
    runs
    """
    stands_for: int | None = None
    """For a catch_up run: the number of planned times that it replaces"""
    causes: list[str] | None = None
    """For a run that a trigger began: the tasks whose runs led to it, the first cause first"""
    thread_id: str | None = None
    """The conversation of the run; absent for a run of a task"""


class RunBody(Model):
    """The conversation that the agent answers"""

    messages: list[Message] | None = None
    """The conversation so far, in the AI SDK's message format"""
    message: Message | None = None
    prompt: RunBodyPrompt | None = None
    """A prompt of a tool server (`GET /mcp/prompts`), in front of `message` or of the last of
    `messages`, or in their place. In the thread its words are quoted in the message of the user,
    with the name of the server. Later requests leave them out
    """
    skill: str | None = None
    """The name of a skill for the working folder (`GET /skills`), which the agent is told to read
    before all else: with the message, or in its place
    """
    cwd: str | None = None
    """Working directory for relative paths and commands"""
    context: RunContext | None = None
    id: str | None = None
    """Up to 128 printable characters without "/" """
    continue_: bool | None = None
    """With `id` and without messages: goes on after the last run of the thread, which stopped,
    failed or was interrupted
    """
    options: RunOptions | None = None
    dry_run: bool | None = None
    """A rehearsal: the run works on a copy of its folder, reaches nothing else and asks nobody, and
    the conversation holds nothing of it. GET /runs/{runId}/sheet says what it would do
    """
    resumable: bool | None = None
    """The run continues when its client disconnects; GET /run/{id}/stream reads it again"""
    waiting: Annotated[Literal["withdraw", "keep"], AnyText] | None = None
    """How to treat approvals and questions that the conversation waits for: `withdraw`, by default,
    takes them back; `keep` refuses the message with 409 `ERR_CONVERSATION_WAITS`
    """
    changes: Annotated[Literal["keep", "undo", "ask"], AnyText] | None = None
    """How to treat the changes to files that were made by the answers that this message replaces
    (it was edited, or asks for another answer): `keep`, by default, leaves them; `undo` undoes them
    before the run begins, and `undone` of its `start` says what was restored; `ask` refuses the
    message with 409 `ERR_FILES_CHANGED` if there are some that can be undone, and names them
    """
    trigger: Any = None
    """Sent by chat clients. A request with "regenerate-message" never decides an approval request
    """
    message_id: Any = None
    """Sent by chat clients: the message that is continued"""


class RunChanges(Model):
    """A page of the changes of a run"""

    changes: list[FileChange]
    """In the order in which they were made"""
    not_covered: list[UncoveredCall]
    follow_ups: list[FollowUp]
    """Undos and applies of the changes, oldest first. Each can be taken back"""
    next_cursor: str | None = None


class RunContext(Model):
    """Part of a larger object of the service: RunContext."""

    cwd: str | None = None
    """The same as `cwd` beside it. Two that differ are a 400"""


class RunEndEvent(Model):
    """A run is over, or was paused: then it is interrupted. A run that waits for a person is not
    over
    """

    run_id: str
    status: RunState
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["run:end"] = "run:end"
    thread_id: str | None = None
    """The conversation; absent for a task"""
    task_id: str | None = None
    """The task; absent for a conversation"""


class RunFailure(Model):
    """Why a run failed. provider, access and day_budget do not count in the health of its task"""

    reason: Annotated[Literal[
        "goal",
        "provider",
        "access",
        "budget",
        "day_budget",
        "time",
        "error",
    ], AnyText]
    """goal: it did not reach its goal; provider: the model provider or the network was down;
    access: the provider refused the key, has no credit, or does not know the model; budget,
    day_budget: the budget of the run, or of the day, was used up; time: it took too long; error:
    anything else
    """
    code: str | None = None
    """The code of the error"""


class RunList(Model):
    """A page of runs, newest first. Inputs and outputs of their calls are shortened; nextCursor is
    present when there are more
    """

    runs: list[Run]
    next_cursor: str | None = None


class RunOptions(Model):
    """Settings of one run. They are resolved with the options of its agent and of its conversation
    when the run starts, and kept with the run: the same applies after approvals and after a restart
    """

    agent: str | None = None
    """The name of an agent (`GET /agents`), whose options apply beside these"""
    model: str | None = None
    """`<provider>/<model>`: the model of role `capable` for this run, instead of the active model
    """
    instructions: str | None = None
    """The application's instructions, part of the system prompt"""
    allow_tools: list[str] | None = None
    """The run has these tools and no others; absent: all tools. Names, patterns of names such as
    `github_*`, or `server:<name>` for all tools of a tool server
    """
    deny_tools: list[str] | None = None
    """The run has no tools of these names. Names, patterns of names such as `github_*`, or
    `server:<name>` for all tools of a tool server
    """
    effort: Effort | None = None
    """How much the model reasons before it answers. Providers take the nearest effort that their
    model has
    """
    max_output_tokens: int | None = None
    """The greatest length of the answer of one model call, in tokens; providers count reasoning,
    too
    """
    max_steps: int | None = None
    """The number of steps with tools; by default 100, and 200 for a task"""
    budget: Budget | None = None
    """Limits of the run. When its money or tokens are spent, it asks whether it may go on, where
    somebody can be asked; else, and when its minutes are over, it ends
    """
    object: AnswerSchema | None = None
    """The answer is an object that fits the schema; the run fails otherwise"""
    app_tools: list[AppTool] | None = None
    """Tools that the application executes itself"""
    app: str | None = None
    """The application whose tools these are; calls can be listed by it"""
    sandbox: Annotated[Literal["auto", "required"], AnyText] | None = None
    """Which commands run in a box, where config.json lets more of them run outside. required: a
    command that cannot is refused
    """
    workspace: Annotated[Literal["folder", "copy"], AnyText] | None = None
    """copy: the run works on a copy of its folder, where file tools and commands in the box need no
    approval; POST /runs/{runId}/apply takes its changes over. For conversations
    """
    interactive: bool | None = None
    """true: the agent may ask the user questions; false: what would wait for a person is denied at
    once. Without it approvals wait; tasks may ask questions in the approval modes changes, always
    and first_n
    """


class RunQueued(Model):
    """The run that was queued"""

    ok: bool
    """Always true"""
    task_id: str
    run_id: str
    run_number: int


class RunResult(Model):
    """The whole answer"""

    text: str
    """The answer: the text after the last tool call. Of an answer that was reviewed and written
    again, the version that the tool calls contradict less; the first if they contradict both alike
    """
    messages: list[Message]
    """The messages to add to the conversation"""
    steps: int
    tool_calls: list[RunResultToolCallsItem]
    usage: Usage
    finish_reason: FinishReason
    """Why the run ended; "tool-calls" when it waits for approvals, answers or the application"""
    pending_approvals: list[RunResultPendingApprovalsItem]
    pending_questions: list[RunResultPendingQuestionsItem]
    """Questions of the agent to its user"""
    pending_tool_calls: list[RunResultPendingToolCallsItem]
    """The calls that the application is to execute; it answers with POST /tool-calls/{id}"""
    thread_id: str
    run_id: str
    other_text: str | None = None
    """The other version of an answer that was written again after its review"""
    stopped: Stopped | None = None
    analysis: Analysis | None = None
    evaluation: Evaluation | None = None
    task: RunTask | None = None
    steering: list[Steer] | None = None
    """Messages of the user during the run"""
    compactions: list[Compaction] | None = None
    """The compactions of the conversation; absent when it fitted its model"""
    object: dict[str, Any] | None = None
    """The structured answer; it fits options.object.schema"""
    options: RunOptions | None = None
    undone: ReplacedChanges | None = None


class RunStartEvent(Model):
    """A run begins, or goes on after a pause"""

    run_id: str
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["run:start"] = "run:start"
    thread_id: str | None = None
    """The conversation; absent for a task"""
    task_id: str | None = None
    """The task; absent for a conversation"""


class RunTask(Model):
    """A background task that a run created and started, or changed"""

    task_id: str
    """Id of the task, for GET /tasks/{id} and the other task routes"""
    goal: str
    task_type: TaskType
    status: TaskStatus
    interval: str | None = None
    """How often it runs, as it was written"""
    words: str | None = None
    """When it runs, as it was understood"""
    next_run_at: int | None = None
    """Milliseconds since the Unix epoch"""
    zone: str | None = None
    """The time zone of its local times"""
    next: list[int] | None = None
    """The next planned times, at most five"""
    is_new: bool | None = None
    """It was created for this request; absent for one that was changed. Always true"""


class Schedule(Model):
    """The times at which a task runs"""

    interval: str | None = None
    """How often: a word (hourly, daily, weekdays, weekends, weekly, biweekly, monthly, quarterly,
    yearly), days ("every monday and thursday", "every other friday", "first monday", "1st and
    15th"), a duration ("30m", "2 days", "every 6 hours", "P1D", "every 10 minutes between 9 and
    17") or a cron line ("0 9 * * 1-5", "@daily"). A schedule has either this, `once` or `in`
    """
    once: str | int | None = None
    """One time, for tasks of type one_shot. It must still be to come"""
    in_: str | None = None
    """One time, counted from the start of the task: "30 minutes", "2h", "3 days" """
    timezone: str | None = None
    """IANA time zone, such as Europe/Berlin. By default the machine's time zone, including its
    later changes
    """
    at: str | None = None
    """Time of day: "09:00", "17:30:15", "9am". By default the time of startAt; without startAt,
    09:00 for words and the time of the start for durations
    """
    on: str | int | list[str] | None = None
    """Weekdays for weekly schedules, a day for monthly ones. By default the day of startAt; without
    startAt, Monday and the 1st for words and the day of the start for durations
    """
    except_: str | list[str] | None = None
    """Weekdays and dates that are left out: "sundays", "24 december", "2026-12-24" """
    start_at: int | None = None
    """Earliest time of a run, in milliseconds since the Unix epoch. Durations are counted from it,
    and their first run is at this time
    """
    max_runs: int | None = None
    """Number of scheduled runs after which the task is completed"""
    missed: Annotated[Literal["run_once", "skip"], AnyText] | None = None
    """How to handle planned times that passed while the machine slept or the service did not run:
    run_once starts one run for all of them (the default), skip none
    """
    grace_ms: int | None = None
    """Maximum delay of that one run, in milliseconds; by default half of the time to the next
    planned one, at least 24 hours and at most 7 days. Older planned times are missed
    """


class ScopeChoice(Model):
    """Part of a larger object of the service: ScopeChoice."""

    scope: Scope
    """once: this call alone; exact: the same input in the same working directory; folder: files
    with this extension in or below the folder; host: this tool at the hosts of the call; sandbox:
    every command in the box of this folder; tool: every call of this tool of a tool server or of
    the application
    """
    text: str
    """What the answer would cover, for the user"""


class SearchResult(Model):
    """A message, or the title of a thread"""

    thread_id: str
    title: str
    """The title of the thread"""
    time: int
    """When it was said, else when the thread changed; milliseconds since the Unix epoch"""
    snippet: SearchSnippet
    message_id: str | None = None
    """The id of the message in `GET /threads/{id}?protocol=ui`; absent for a title"""
    position: int | None = None
    """The place of the message in the thread: as the `cursor` of GET /threads/{id}, it reads what
    is before
    """
    role: str | None = None
    """user, assistant, system or tool"""


class SearchResults(Model):
    """A page of results, those of the most recently changed thread first"""

    results: list[SearchResult]
    next_cursor: str | None = None
    """Present when there is more to search; a page may be short, or empty"""


class SearchSnippet(Model):
    """A piece of a text, and where what was searched for stands in it"""

    text: str
    """The text around a match, on one line"""
    matches: list[SearchSnippetMatchesItem]


class ServerFailure(Model):
    """Part of a larger object of the service: ServerFailure."""

    server: str
    error: str


class ServerSandbox(Model):
    """Part of a larger object of the service: ServerSandbox."""

    network: list[str] | None = None
    """Hosts that it may reach, `host` (ports 80 and 443) or `host:port`. Absent: no network"""
    read: list[str] | None = None
    """Folders that it may read, by their absolute paths"""
    write: list[str] | None = None
    """Folders that it may read and write, by their absolute paths"""


class Sheet(Model):
    """The result of a rehearsal"""

    run_id: str
    status: RunState
    started_at: int
    """Milliseconds since the Unix epoch"""
    usage: Usage
    lines: list[SheetLine]
    """The calls that would ask, or that reach beyond the folder of the run"""
    task_id: str | None = None
    """The task that was rehearsed"""
    thread_id: str | None = None
    """The conversation whose message was rehearsed"""
    duration_ms: int | None = None
    """Milliseconds from start to end"""
    output: str | None = None
    """What the run reported"""
    error: str | None = None
    """Why the rehearsal did not complete"""
    facts: str | None = None
    """What the run did by its recorded calls, written by code: calls by effect, files, commands
    with their exit codes, external calls. One line in English
    """
    void: str | None = None
    """Why nothing can be accepted of the sheet any more: the goal or the plan of the task was
    changed
    """


class SheetAnswer(Model):
    """The lines of a sheet that later runs of the task or the conversation may do without asking"""

    sheet: str
    """The runId of the rehearsal"""
    lines: list[SheetAnswerLinesItem]
    """The lines that are accepted, each with one of its scopes"""


class SheetLine(Model):
    """Something that a run would do"""

    line: int
    """The number of the line, from 1 on"""
    tool_call_id: str
    """The first call of the line"""
    tool_name: str
    input: Any
    """The input of the call; as JSON, shortened, where it is long"""
    count: int
    """The number of calls with this very input"""
    outcome: Annotated[Literal["copied", "unknown", "question"], AnyText]
    """copied: the call was made, on the copy; unknown: it would reach beyond the copy, so it was
    not made, and the model was told that; question: the user would have been asked, and the model
    was told to decide itself
    """
    asks: bool
    """Whether the run itself would ask for it, or be denied it; false where it would run unasked"""
    scopes: list[ScopeChoice]
    """The scopes that can be accepted, the narrowest first; [] for none"""
    guess: bool | None = None
    """The model made this call after another one whose outcome it did not know: the run may do
    something else. Always true
    """
    reason: str | None = None
    """What a person should know before accepting the line"""
    tool_server: CallServer | None = None
    """Tools of tool servers: whose tool it is"""
    boundary: Boundary | None = None
    """Commands: where the command would run"""
    accepted: SheetLineAccepted | None = None
    """The accepted scope, and the grant that was made"""
    void: str | None = None
    """Why nothing more can be accepted of the line"""


class ShutdownEvent(Model):
    """The service ends; this is the last event"""

    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["service:shutdown"] = "service:shutdown"


class Skill(Model):
    """A folder with a SKILL.md: instructions for a kind of work"""

    name: str
    path: str
    """Its folder"""
    source: Annotated[Literal["folder", "config"], AnyText]
    """Whether it lies in the working folder, or in a folder that config.json names"""
    state: Annotated[Literal["new", "known", "changed", "refused", "hidden"], AnyText]
    """new: no run has read it; known: it is as it was read; changed: it is not, and a person is
    asked before it is read again; refused: it cannot be used, for the `reason`; hidden: an earlier
    one has its name
    """
    description: str | None = None
    """What it is for, in the words of its folder"""
    reason: str | None = None
    """Why it is not used"""
    changed: list[str] | None = None
    """The files that are other than when it was read"""
    allowed_tools: list[str] | None = None
    """The only tools that can be called while it is in use, as its folder names them"""
    unread: list[str] | None = None
    """Entries of `allowedTools` that allow nothing, because they are not understood"""
    for_user: bool | None = None
    """Models are not told of it: it is read when its user names it. Always true"""
    files: int | None = None
    """The number of files beside its SKILL.md"""
    digest: str | None = None
    """Changes when a file of the skill changes; send it to accept the skill"""
    lead_out: list[str] | None = None
    """Links in its folder that lead out of it: nothing is read through them"""


class SkillList(Model):
    """The skills for work in a folder, those that are used first"""

    cwd: str
    """The working folder"""
    skills: list[Skill]


class SkippedPath(Model):
    """Part of a larger object of the service: SkippedPath."""

    path: str
    """Absolute path"""
    reason: Annotated[Literal[
        "changed_since",
        "too_large",
        "link",
        "gone",
        "not_allowed",
        "undone",
        "shared",
        "repository-used-since",
        "opens",
        "failed",
    ], AnyText]
    """`changed_since`: the path is not as the run left it. `too_large`: no copy of what was there
    was kept. `link`: a symbolic link is in the way. `gone`: what the run left is not there any
    more, or the copy of what was there is not kept any more. `not_allowed`: the path is outside the
    folders that may be used now, or may not be written. `undone`: the path is as it was. `shared`:
    others may have changed it: a command of another run, or somebody while the command went on or
    the service was ended; an undo that names the path takes it back. `repository-used-since`: refs,
    index or HEAD of the git directory were changed after the run, so nothing of it is taken back.
    `opens`: programs obey it as soon as somebody opens or enters its folder (`.vscode`,
    `AGENTS.md`, hooks), so of a copy it is taken over only by an apply that names it. `failed`: an
    unexpected error, which the log names
    """


class Slot(Model):
    """The outcome of a planned time"""

    at: int
    """The planned time; for several in a row, the last one. Milliseconds since the Unix epoch"""
    fate: Annotated[Literal["run", "coalesced", "skipped", "missed"], AnyText]
    """run: the planned time became the run `runId`; coalesced: the run planned for `into` replaced
    it; skipped: left out on purpose (`reason`); missed: too old for a catch-up run
    """
    from_: int | None = None
    """For several planned times in a row: the first one"""
    count: int | None = None
    """For several planned times in a row: their number"""
    reason: str | None = None
    """Why the planned time was skipped: overlap (a run was active), waiting (a run waited for a
    person, since `since`; all such times in a row are one entry), late (the schedule has missed:
    skip), paused (the task was paused), failing (the task is failing, and is tried less often),
    budget (the tasks had used up their budget of the day), changed or cancelled (the task was
    changed or cancelled at that moment), ended (the end time of the task came)
    """
    since: int | None = None
    """For the reason waiting: the time since which the run waited. Milliseconds since the Unix
    epoch
    """
    into: int | None = None
    """The planned time of the run that replaced it"""
    run_id: str | None = None
    """The run of this planned time, or the run that replaced it"""
    settled_at: int | None = None
    """The time of that decision; it is later than `at` if the machine slept or the service did not
    run. Milliseconds since the Unix epoch
    """


class StartEvent(Model):
    """The stream begins. This event is sent before any model has answered"""

    message_id: str
    """Id of the message that the run writes; it stays the same after an approval"""
    message_metadata: StartEventMessageMetadata
    type: Literal["start"] = "start"


class StartStepEvent(Model):
    """A step begins: one model call and the tool calls that it requests"""

    type: Literal["start-step"] = "start-step"


class Steer(Model):
    """A message of the user to an active run"""

    id: str
    """Id of the message; the client may choose it (POST /run/{id}/steer)"""
    text: str
    """The words of the message"""
    state: Annotated[Literal["waiting", "read", "unread"], AnyText]
    """waiting: the model gets it with its next step. read: a step has got it. unread: the run ended
    before any step answered it
    """
    step: int | None = None
    """The step that got it, counted from 1 in its run"""


class SteerBody(Model):
    """Part of a larger object of the service: SteerBody."""

    message: str
    """The message that the model gets at its next step"""
    id: str | None = None
    """Id of the message; without one the service makes it. A repeated message with the same id
    takes effect once
    """


class SteeredRun(Model):
    """The run that gets the message, of a conversation or a task"""

    ok: bool
    """Always true"""
    run_id: str
    id: str
    """Id of the message"""
    state: Annotated[Literal["waiting", "read", "unread"], AnyText]
    """waiting: the model gets it with its next step. read: a step has got it. unread: the run ended
    before any step answered it
    """
    thread_id: str | None = None
    """The conversation of the run"""
    task_id: str | None = None
    """The task of the run"""


class StepBoundaryEvent(Model):
    """Separates two steps: the model is called again after it"""

    type: Literal["step-boundary"] = "step-boundary"


class Stopped(Model):
    """Why a run ended before its model said that it was done"""

    reason: Annotated[Literal[
        "steps",
        "repeating",
        "no-progress",
        "looping-text",
        "output-limit",
        "empty",
        "unread-call",
        "refused",
        "user",
        "interrupted",
        "left",
        "failed",
    ], AnyText]
    """steps: its steps are used up; repeating: it made the same calls again and again; no-progress:
    none of its calls in eight steps could be carried out; looping-text: it wrote the same again and
    again; output-limit: an answer, or the input of a call, was longer than the model may answer;
    empty: the model said nothing, also when asked again; unread-call: it wrote a tool call as text
    that cannot be read, also when asked again; refused: the model or its provider refused; user:
    the user stopped it; interrupted: the service ended; failed: an error ended it (both in messages
    only); left: its client went away
    """
    text: str
    """The same in a sentence for people, with what to do"""


class Task(Model):
    """A background task"""

    id: str
    name: str
    """A short name: the one that was given, else one of at most 60 characters that is made of the
    goal
    """
    goal: str
    task_type: TaskType
    status: TaskStatus
    cwd: str
    """Working directory of the runs"""
    plan: Plan
    approval: TaskApproval
    memory: TaskMemory
    approval_history: list[TaskApprovalHistoryItem]
    steering_history: list[TaskSteeringHistoryItem]
    total_runs: int
    successful_runs: int
    health: TaskHealth
    created_at: int
    """Milliseconds since the Unix epoch"""
    updated_at: int
    """Milliseconds since the Unix epoch"""
    request: str | None = None
    """The message of the user from which a model made the goal; runs get both"""
    schedule: Schedule | None = None
    schedule_words: str | None = None
    """The schedule in words, as it was understood"""
    triggers: list[Trigger] | None = None
    """Causes of runs beside its times"""
    options: RunOptions | None = None
    budget: TaskBudget | None = None
    """Earlier names of two limits of `options.budget`, which takes their place"""
    ends_at: int | None = None
    """The time at which it ends, whatever it does then"""
    last_run_at: int | None = None
    """Milliseconds since the Unix epoch"""
    last_run_status: RunState | None = None
    """How the run at lastRunAt ended"""
    next_run_at: int | None = None
    """Milliseconds since the Unix epoch"""
    missed_at: int | None = None
    """For a one_shot with a single time that passed too long ago to be made up for: that time. POST
    /tasks/{id}/run runs it now, POST /tasks/{id}/cancel drops it
    """
    retry_at: int | None = None
    """While a run of the task waits for its model provider: the time at which it goes on; POST
    /tasks/:id/run lets it go on now
    """
    waiting_for: list[TaskWaitingForItem] | None = None
    """What waits for a person; kind app waits for the application. The result of a run waits while
    the task goes on; with the status pending_approval the task goes on after the answer
    """
    thread_id: str | None = None
    """The conversation that made it"""
    paused_reason: str | None = None
    """Why the task is paused: user, or imported: it came with a backup and runs without asking"""


class TaskApprovalEvent(Model):
    """A run waits for approval, or for answers to questions: POST /approvals/{approvalId}"""

    task_id: str
    run_id: str
    approval_id: str
    kind: Annotated[Literal["tool", "result", "question"], AnyText]
    type: Literal["task:approval"] = "task:approval"
    tool_name: str | None = None
    input: Any = None
    cwd: str | None = None
    """Real path of the working directory of the call"""
    reason: str | None = None
    """Why the approval is requested again, or what differs from the approved runs"""
    reasons: list[AskReason] | None = None
    """Why the call asks"""
    boundary: Boundary | None = None
    """Commands: where the command would run"""
    tool_server: CallServer | None = None
    """Tools of tool servers: whose tool it is"""
    scopes: list[ScopeChoice] | None = None
    """The scopes that an answer can choose from, as "scope" """
    teaches: list[str] | None = None
    """What the approval teaches the task, in words, for the user. Of a call: unless it is answered
    with a scope, and once the result of the run is approved, too. Of a result: what later runs do
    unasked once enough runs were approved
    """
    output: str | None = None
    questions: list[Question] | None = None
    budget: ReachedBudget | None = None
    live: bool | None = None
    """A tool server asks, and its call goes on: no step waits for the answer. Always true"""
    server: str | None = None
    """The tool server that asks, and that gets the answers"""
    url: str | None = None
    """The address that the server wants the user to open: https, or http on this computer"""


class TaskApprovalInput(Model):
    """Which runs need approval. changes, the default: the calls that change something and the
    results of runs that changed something, until N such runs were approved, then only calls that
    those runs did not make; first_n: the same, but the results of all runs until N were approved;
    always: every run; granted, the default with `interactive: false`: calls with a grant run, all
    others that need approval are denied, and results need none; never: none, and tools that
    otherwise need approval run without it
    """

    mode: TaskApprovalMode
    first_n: int | None = None
    """With modes changes and first_n: the number of runs to approve; by default 3"""


class TaskApproveBody(Model):
    """A decision on the named approval request; without approvalId, on the oldest open one"""

    approved: bool
    """true approves, false rejects"""
    notes: str | None = None
    """Feedback for future runs"""
    approval_id: str | None = None
    """A UUID"""
    scope: Scope | None = None
    """once: this call alone; exact: the same input in the same working directory; folder: files
    with this extension in or below the folder; host: this tool at the hosts of the call; sandbox:
    every command in the box of this folder; tool: every call of this tool of a tool server or of
    the application
    """
    until: GrantLimits | None = None
    """When the grant ends: after a number of calls, at a time, or at what comes first"""


class TaskApproved(Model):
    """The state of the run after the decision"""

    ok: bool
    """Always true"""
    task_id: str
    run_id: str
    approval_id: str
    approved: bool
    status: RunState
    learned: Learned | None = None


class TaskBody(Model):
    """A new task"""

    goal: str
    """The result that the task must achieve"""
    task_type: TaskType | None = None
    """By default recurring with `schedule.interval`, triggered with `triggers` alone, else
    one_shot, which may have `schedule.once` or `schedule.in`. triggered runs only through its
    triggers, /run and steer
    """
    start: bool | None = None
    """Also starts it, as POST /tasks/{id}/start does"""
    name: str | None = None
    """A short name; empty: made of the goal"""
    approval: TaskApprovalInput | None = None
    schedule: Schedule | None = None
    triggers: list[Trigger] | None = None
    """Causes of runs, with or without a schedule; not for a one_shot. An empty list removes them"""
    cwd: str | None = None
    """Working directory of the runs; by default the workspace"""
    ends_at: int | None = None
    """The time at which it ends, whatever it does then: a run that works or waits is stopped, and
    says what was done. Until then the machine is kept awake for its run. Milliseconds since the
    Unix epoch; 0 for none
    """
    options: RunOptions | None = None
    budget: TaskBudget | None = None
    """Earlier names of two limits of `options.budget`, which takes their place"""
    plan: PlanInput | None = None


class TaskBudget(Model):
    """Earlier names of two limits of `options.budget`, which takes their place"""

    max_tokens_per_run: int | None = None
    """options.budget.tokens"""
    max_minutes_per_run: float | None = None
    """options.budget.minutes"""


class TaskChangeEvent(Model):
    """A task was created, edited or deleted"""

    task_id: str
    change: Annotated[Literal["created", "edited", "deleted"], AnyText]
    type: Literal["task:change"] = "task:change"


class TaskChanges(Model):
    """The changed fields. A new goal or plan resets the count of approved runs; a plan can be given
    only while the task is planned. `options` take the place of all options before, from the next
    run on
    """

    goal: str | None = None
    """The result that the task must achieve"""
    name: str | None = None
    """A short name; empty: made of the goal"""
    approval: TaskApprovalInput | None = None
    schedule: Schedule | None = None
    triggers: list[Trigger] | None = None
    """Causes of runs, with or without a schedule; not for a one_shot. An empty list removes them"""
    cwd: str | None = None
    """Working directory of the runs; by default the workspace"""
    ends_at: int | None = None
    """The time at which it ends, whatever it does then: a run that works or waits is stopped, and
    says what was done. Until then the machine is kept awake for its run. Milliseconds since the
    Unix epoch; 0 for none
    """
    options: RunOptions | None = None
    budget: TaskBudget | None = None
    """Earlier names of two limits of `options.budget`, which takes their place"""
    plan: PlanInput | None = None


class TaskCompleteEvent(Model):
    """A run completed successfully"""

    task_id: str
    run_id: str
    run_number: int
    status: RunState
    output: str
    duration_ms: int
    tool_count: int
    quality_score: float
    type: Literal["task:complete"] = "task:complete"
    object: dict[str, Any] | None = None
    """The structured answer; it fits options.object.schema"""
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    facts: str | None = None
    """What the run did by its recorded calls, written by code: calls by effect, files, commands
    with their exit codes, external calls. One line in English
    """
    learned: Learned | None = None


class TaskDeleted(Model):
    """The task was deleted with its runs"""

    ok: bool
    """Always true"""
    task_id: str


class TaskErrorEvent(Model):
    """A run ended without success: failed, rejected, cancelled or interrupted"""

    task_id: str
    run_id: str
    error: str
    status: RunState
    type: Literal["task:error"] = "task:error"
    failure: RunFailure | None = None
    facts: str | None = None
    """What the run did by its recorded calls, written by code: calls by effect, files, commands
    with their exit codes, external calls. One line in English
    """


class TaskEvalEvent(Model):
    """A run was evaluated"""

    task_id: str
    run_id: str
    quality_score: float
    satisfied: bool
    issues: list[str]
    type: Literal["task:eval"] = "task:eval"
    outcome: Annotated[Literal[
        "done",
        "nothing_to_do",
        "partly",
        "failed",
        "asks",
    ], AnyText] | None = None
    """How the run ended. done, nothing_to_do and partly are completed; absent when nobody judged"""
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    claims: list[CheckedClaim] | None = None
    evidence: Annotated[Literal[
        "confirmed",
        "contradicted",
        "unchecked",
        "not_needed",
    ], AnyText] | None = None
    """All claims together; not_needed: the report claims no effect"""
    judge: Annotated[Literal["model", "none"], AnyText] | None = None
    """none: no model judged the run, only its tool calls were looked at"""


class TaskEvaluation(Model):
    """The evaluation of a run. A model reads the report; each effect that the report claims is
    checked against the tool calls
    """

    satisfied: bool
    quality_score: float
    issues: list[str]
    outcome: Annotated[Literal[
        "done",
        "nothing_to_do",
        "partly",
        "failed",
        "asks",
    ], AnyText] | None = None
    """How the run ended. done, nothing_to_do and partly are completed; absent when nobody judged"""
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    claims: list[CheckedClaim] | None = None
    evidence: Annotated[Literal[
        "confirmed",
        "contradicted",
        "unchecked",
        "not_needed",
    ], AnyText] | None = None
    """All claims together; not_needed: the report claims no effect"""
    judge: Annotated[Literal["model", "none"], AnyText] | None = None
    """none: no model judged the run, only its tool calls were looked at"""


class TaskHealth(Model):
    """Whether the runs of a task succeed"""

    state: Annotated[Literal["ok", "failing"], AnyText]
    failures: int
    """Runs that failed in a row; failing from five on, until a run completes"""
    since: int | None = None
    """Since when it is failing"""
    next_try_at: int | None = None
    """While it is failing: planned times before this one are skipped"""


class TaskHealthEvent(Model):
    """A task began to fail, after five failed runs in a row, or is well again, after a run that
    completed
    """

    task_id: str
    state: Annotated[Literal["ok", "failing"], AnyText]
    failures: int
    """Runs that failed in a row; failing from five on, until a run completes"""
    type: Literal["task:health"] = "task:health"
    since: int | None = None
    """Since when it is failing"""
    next_try_at: int | None = None
    """While it is failing: planned times before this one are skipped"""


class TaskList(Model):
    """A page of tasks, newest first; nextCursor is present when there are more"""

    tasks: list[Task]
    next_cursor: str | None = None
    damaged: list[str] | None = None
    """Ids of tasks that cannot be read and do not run; DELETE removes them"""


class TaskMemory(Model):
    """What the runs of a task have learned; the newest 100 entries of each list"""

    findings: list[str]
    sources: list[str]
    files_created: list[str]
    decisions: list[str]
    feedback: list[TaskMemoryFeedbackItem]
    confirmed: list[str] | None = None
    """Findings and decisions that a person gave: no run replaces them"""
    replaced: list[TaskMemoryReplacedItem] | None = None
    """Findings and decisions that a report replaced; PUT /tasks/{id}/memory with the entry in its
    list restores it
    """
    doubted: list[TaskMemoryDoubtedItem] | None = None
    """Findings and decisions that may hold no more, as a report has it; they stand until a person
    takes them out of their list
    """


class TaskMemoryBody(Model):
    """The lists to replace; lists that are left out stay. A repeated entry is kept once"""

    findings: list[str] | None = None
    sources: list[str] | None = None
    files_created: list[str] | None = None
    decisions: list[str] | None = None


class TaskPhaseEvent(Model):
    """A phase changes status"""

    task_id: str
    run_id: str
    phase: str
    """The description of the phase"""
    phase_id: str
    status: str
    type: Literal["task:phase"] = "task:phase"


class TaskQuestion(Model):
    """An approval or question that a run waits for"""

    approval_id: str
    kind: Annotated[Literal["tool", "result", "question"], AnyText]
    created_at: int
    """Milliseconds since the Unix epoch"""
    expires_at: int
    """Milliseconds since the Unix epoch"""
    tool_name: str | None = None
    """The tool whose call needs approval"""
    input: Any = None
    cwd: str | None = None
    """Real path of the working directory. The call runs in this directory or not at all"""
    reason: str | None = None
    """Why the approval is requested again, or what differs from the approved runs"""
    reasons: list[AskReason] | None = None
    """Why the call asks"""
    boundary: Boundary | None = None
    """Commands: where the command would run"""
    tool_server: CallServer | None = None
    """Tools of tool servers: whose tool it is"""
    scopes: list[ScopeChoice] | None = None
    """The scopes that an answer can choose from, as "scope" """
    teaches: list[str] | None = None
    """What the approval teaches the task, in words, for the user. Of a call: unless it is answered
    with a scope, and once the result of the run is approved, too. Of a result: what later runs do
    unasked once enough runs were approved
    """
    output: str | None = None
    """The result that needs approval"""
    questions: list[Question] | None = None
    """Kind question: what is asked; POST /approvals/:id answers"""
    budget: ReachedBudget | None = None
    live: bool | None = None
    """A tool server asks, and its call goes on: no step waits for the answer. Always true"""
    server: str | None = None
    """The tool server that asks, and that gets the answers"""
    url: str | None = None
    """The address that the server wants the user to open: https, or http on this computer"""


class TaskRetryEvent(Model):
    """The model provider of a run is down: the run gives its place back, and goes on from its last
    step at `retryAt`
    """

    task_id: str
    run_id: str
    error: str
    tries: int
    """How often its last step was tried so far"""
    retry_at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["task:retry"] = "task:retry"
    reason: Literal["provider"] = "provider"


class TaskRun(Model):
    """One execution of a task"""

    run_id: str
    task_id: str
    run_number: int
    """0: a rehearsal, which has no number"""
    trigger: RunTrigger
    status: RunState
    queued_at: int
    """Milliseconds since the Unix epoch"""
    started_at: int
    """The time at which the run began; while it is queued, the time of queueing. Milliseconds since
    the Unix epoch
    """
    phases: list[Phase]
    tool_calls: list[TaskToolCall]
    tool_count: int
    steering: list[str]
    """The steering comments that this run got first"""
    questions: list[TaskQuestion]
    """Open approval requests"""
    usage: Usage
    attempts: int
    """Number of attempts: the first start and each continuation after an interruption"""
    completed_at: int | None = None
    """Milliseconds since the Unix epoch"""
    duration_ms: int | None = None
    """Milliseconds from start to end"""
    output: str | None = None
    """The final text; of a run that wrote none, its object as JSON. Of a report that was reviewed
    and written again, the version that the tool calls contradict less; the first if they contradict
    both alike
    """
    other_output: str | None = None
    """The other version of a report that was written again after its review"""
    object: dict[str, Any] | None = None
    """The structured answer; it fits options.object.schema"""
    error: str | None = None
    """Why the run did not complete, or waits for its model provider"""
    failure: RunFailure | None = None
    retry_at: int | None = None
    """Of a queued run whose model provider is down: the time at which it goes on from its last step
    """
    review: Annotated[Literal[
        "approved",
        "rejected",
        "superseded",
        "expired",
    ], AnyText] | None = None
    """What became of the request to approve the result, of a run of a task that made one: a person
    approved or rejected it; the result of a newer run took its place; or nobody answered in time.
    Without an answer the run is completed
    """
    stopped: Stopped | None = None
    quality_score: float | None = None
    evaluation: TaskEvaluation | None = None
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    facts: str | None = None
    """What the run did by its recorded calls, written by code: calls by effect, files, commands
    with their exit codes, external calls. One line in English
    """
    input: Any = None
    """The data that the run began with; only in the answer for a single run"""
    input_bytes: int | None = None
    """The size of the input as JSON, bytes"""
    steered: list[Steer] | None = None
    """Messages of the user during the run"""
    answered_by: AnsweredBy | None = None
    """The model of the last step, and the effort that it was asked with; absent when no model
    answered
    """
    options: RunOptions | None = None
    planned_at: int | None = None
    """The planned time that began the run, in milliseconds since the Unix epoch; absent for other
    runs
    """
    stands_for: int | None = None
    """For a catch_up run: the number of planned times that it replaces"""
    causes: list[str] | None = None
    """For a run that a trigger began: the tasks whose runs led to it, the first cause first"""


class TaskRunBody(Model):
    """The input of a run of a task, beside its goal"""

    input: Any = None
    """Any JSON value of at most 1 MiB: data for this run, which are no instructions to it"""


class TaskRunList(Model):
    """A page of runs, newest first"""

    runs: list[TaskRun]
    next_cursor: str | None = None
    damaged: list[int] | None = None
    """Numbers of runs that cannot be read"""


class TaskSchedule(Model):
    """A schedule, its next planned times and the outcomes of past ones"""

    schedule: Schedule
    upcoming: list[int]
    """The next planned times, earliest first. For an inactive schedule, the times that would apply
    if it were started or resumed now
    """
    slots: list[Slot]
    """The outcomes of past planned times, newest first"""
    words: str | None = None
    """When it runs, as it was understood: "every other week on Friday at 09:00" """
    next_cursor: str | None = None
    """The `cursor` of the request for older slots"""


class TaskStartEvent(Model):
    """A run begins"""

    task_id: str
    run_id: str
    run_number: int
    started_at: int
    """Milliseconds since the Unix epoch"""
    phases: list[Phase]
    type: Literal["task:start"] = "task:start"


class TaskStatusEvent(Model):
    """A task changed its status"""

    task_id: str
    status: TaskStatus
    previous: TaskStatus
    type: Literal["task:status"] = "task:status"


class TaskSteerBody(Model):
    """A steering comment for a task"""

    comment: str
    """Feedback or instruction for the next run"""
    run_now: bool | None = None
    """Whether to start a run with this comment at once"""


class TaskSteerEvent(Model):
    """A steering comment was added"""

    task_id: str
    comment: str
    type: Literal["task:steer"] = "task:steer"


class TaskSteered(Model):
    """The comment was added; runTriggered says whether a run was started for it"""

    ok: bool
    """Always true"""
    task_id: str
    comment: str
    run_triggered: bool


class TaskToolCall(Model):
    """A tool call of a run"""

    tool_call_id: str
    tool_name: str
    input: Any
    status: Annotated[Literal["pending", "completed", "error", "denied"], AnyText]
    output: Any = None
    """The output of the tool; shortened in lists of runs"""
    error: str | None = None
    grant_id: str | None = None
    """The grant by which the call ran unasked"""
    begun: bool | None = None
    """The call was started, or given to the application: while it is pending when its run is over,
    its outcome is unknown. Calls that only read are not noted
    """
    duration_ms: int | None = None


class TaskToolCallEvent(Model):
    """A run waits for the application to execute a call; answer with POST /tool-calls/{id}"""

    task_id: str
    run_id: str
    tool_call_id: str
    tool_name: str
    input: Any
    expires_at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["task:tool-call"] = "task:tool-call"


class TaskToolEvent(Model):
    """A tool call ended"""

    task_id: str
    run_id: str
    tool: str
    input: Any
    output: dict[str, Any]
    """The output of the tool; { error } when the call failed or was denied"""
    status: Annotated[Literal["complete", "error", "denied"], AnyText]
    type: Literal["task:tool"] = "task:tool"


class TaskToolStartEvent(Model):
    """A tool call begins"""

    task_id: str
    run_id: str
    tool_name: str
    input: Any
    type: Literal["task:tool-start"] = "task:tool-start"


class TaskTrigger(Model):
    """A run of another task that ends so"""

    task_id: str
    """A UUID"""
    on: Annotated[Literal["completed", "failed"], AnyText]
    type: Literal["task"] = "task"


class TestBody(Model):
    """Part of a larger object of the service: TestBody."""

    model: str | None = None
    """`<provider>/<model>`; by default the active model, or with a key one of the provider that the
    key belongs to
    """
    gateway_key: str | None = Field(default=None, validation_alias="gateway_key", serialization_alias="gateway_key")
    """A key of the model gateway to try; it is used for this call alone, and not stored"""
    keys: dict[str, str] | None = None
    """The key of a direct provider to try, by its name; it is used for this call alone, and not
    stored
    """
    thorough: bool | None = None
    """true: about ten small calls find out what the model and its server can do. It takes some
    minutes on a small computer; what requests need is kept for the model
    """


class TextDeltaEvent(Model):
    """A piece of the answer"""

    id: str
    """Id of the block; all events of a block have the same id"""
    content: str
    delta: str
    """The same text as content, under the name that the AI SDK uses"""
    type: Literal["text-delta"] = "text-delta"


class TextEndEvent(Model):
    """A block of the answer ends"""

    id: str
    """Id of the block; all events of a block have the same id"""
    type: Literal["text-end"] = "text-end"


class TextStartEvent(Model):
    """A block of the answer begins"""

    id: str
    """Id of the block; all events of a block have the same id"""
    type: Literal["text-start"] = "text-start"


class Thread(Model):
    """A conversation without its messages. Fields that its client added are left out if they are
    longer than 4,096 characters, or beyond 16,384 together. In lists, `settings` has `cwd` alone
    """

    id: str
    title: str
    """The user's title, else one from the fast model, else the first words"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    updated_at: int
    """Time of the last change of the messages, in milliseconds since the Unix epoch"""
    status: ThreadStatus
    message_count: int
    last_message: str
    """The beginning of the last message that has text"""
    settings: ThreadSettings | None = None
    deleted_at: int | None = None
    """Lists of deleted threads: when it was deleted"""


class ThreadBody(Model):
    """The fields of a thread to replace; unknown fields are stored with the thread"""

    title: str | None = None
    """The title in lists; when it is empty, the service makes one"""
    settings: ThreadSettings | None = None
    messages: list[Message] | None = None
    restore: bool | None = None
    """PUT only: brings back a deleted thread first, if `DELETE /threads/:id?restorable=true`
    deleted it in the last 30 days
    """


class ThreadChangedEvent(Model):
    """A conversation was taken back to an earlier version of a message. What runs change, their
    events say
    """

    thread_id: str
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["thread:changed"] = "thread:changed"


class ThreadDeleted(Model):
    """The thread was deleted"""

    ok: bool
    """Always true"""
    thread_id: str


class ThreadDeletedEvent(Model):
    """A conversation was deleted, by a client or after its time"""

    thread_id: str
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["thread:deleted"] = "thread:deleted"


class ThreadList(Model):
    """A page of threads, most recently changed first; nextCursor is present when there are more"""

    threads: list[Thread]
    next_cursor: str | None = None


class ThreadSettings(Model):
    """Settings for all runs of a conversation that begin later. They are replaced as a whole: `{}`
    removes them
    """

    agent: str | None = None
    """Name of the agent of the conversation; `options.agent` of a request goes before it"""
    options: NamedOptions | None = None
    cwd: str | None = None
    """Working directory of runs whose request names none; it must exist"""


class ThreadView(Model):
    """A conversation with its messages and the fields that its client added"""

    id: str
    title: str
    """The user's title, else one from the fast model, else the first words"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    updated_at: int
    """Time of the last change of the messages, in milliseconds since the Unix epoch"""
    status: ThreadStatus
    message_count: int
    last_message: str
    """The beginning of the last message that has text"""
    messages: list[Message]
    usage: Usage
    settings: ThreadSettings | None = None
    deleted_at: int | None = None
    """Lists of deleted threads: when it was deleted"""
    next_cursor: str | None = None
    """Present when there are older messages"""


class ThreadsDeleted(Model):
    """All threads were deleted"""

    deleted: int
    """Number of deleted threads"""


class ToolApprovalRequestEvent(Model):
    """A tool call needs approval. The stream ends after the last approval request of a step; POST
    /run/approve continues the run
    """

    approval_id: str
    """Id of the approval request, for POST /run/approve"""
    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    input: Any
    """The complete input of the tool call"""
    type: Literal["tool-approval-request"] = "tool-approval-request"
    cwd: str | None = None
    """Real path of the working directory of the call"""
    reason: str | None = None
    """Why the approval is requested again"""
    reasons: list[AskReason] | None = None
    """Why the call asks"""
    boundary: Boundary | None = None
    """Commands: where the command would run"""
    tool_server: CallServer | None = None
    """Tools of tool servers: whose tool it is"""
    scopes: list[ScopeChoice] | None = None
    """The scopes that an answer can choose from, as "scope" """
    expires_at: int | None = None
    """Milliseconds since the Unix epoch"""


class ToolCall(Model):
    """A call of a tool that the application executes"""

    tool_call_id: str
    tool_name: str
    input: Any
    """The complete input of the call; it fits the inputSchema of the tool"""
    run_id: str
    created_at: int
    """Milliseconds since the Unix epoch"""
    expires_at: int
    """Until then the call can be answered; milliseconds since the Unix epoch"""
    state: ToolCallState
    """open → claimed → done or error; unknown: the claim was not renewed; expired: nobody answered;
    withdrawn: the run does not need it
    """
    app: str | None = None
    """options.app of the run"""
    thread_id: str | None = None
    """The conversation of the run; absent for a task"""
    task_id: str | None = None
    """The task of the run; absent for a conversation"""
    claim: ToolCallClaim | None = None
    """The instance of the application that executes the call"""


class ToolCallAnswer(Model):
    """The claim of a call by an instance of the application, to be renewed within 60 s; or its
    output; or its error. With output or error, "claim" names the instance that claimed it
    """

    claim: str | None = None
    """An id that the instance of the application has chosen for itself"""
    output: dict[str, Any] | None = None
    """The result, an object"""
    error: str | None = None
    """Why the call failed; the model is told"""


class ToolCallClaim(Model):
    """The instance of the application that executes the call"""

    instance: str
    """An id that the instance of the application has chosen for itself"""
    until: int
    """Until then the claim must be renewed; milliseconds since the Unix epoch"""


class ToolCallClosedEvent(Model):
    """The call has its result, has expired or was withdrawn"""

    approval_id: str
    kind: Annotated[Literal["tool", "result", "question", "app", "server", "task"], AnyText]
    state: str
    """The state after the change"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["tool-call:closed"] = "tool-call:closed"
    thread_id: str | None = None
    """The conversation; absent for a task"""
    task_id: str | None = None
    """The task; absent for a conversation"""
    run_id: str | None = None
    """The run; absent for a server"""
    tool_call_id: str | None = None
    """The id of the call, if there is one"""
    tool_name: str | None = None
    """The tool of the call, if there is one"""


class ToolCallList(Model):
    """A page of calls that applications execute; nextCursor is present when there are more"""

    tool_calls: list[ToolCall]
    next_cursor: str | None = None


class ToolCallOpenEvent(Model):
    """A call of a tool of the application waits for its result"""

    approval_id: str
    kind: Annotated[Literal["tool", "result", "question", "app", "server", "task"], AnyText]
    state: str
    """The state after the change"""
    at: int
    """Milliseconds since the Unix epoch"""
    type: Literal["tool-call:open"] = "tool-call:open"
    thread_id: str | None = None
    """The conversation; absent for a task"""
    task_id: str | None = None
    """The task; absent for a conversation"""
    run_id: str | None = None
    """The run; absent for a server"""
    tool_call_id: str | None = None
    """The id of the call, if there is one"""
    tool_name: str | None = None
    """The tool of the call, if there is one"""


class ToolCallRequestEvent(Model):
    """The application is to execute a call of one of its tools (options.appTools). The stream ends
    after the last call of a step; POST /tool-calls/{id}, or POST /run with the tool result,
    continues the run
    """

    tool_call_id: str
    """Id of the call, for POST /tool-calls/{id}"""
    tool_name: str
    input: Any
    """The complete input of the call"""
    expires_at: int
    """Until then the call can be answered; milliseconds since the Unix epoch"""
    type: Literal["tool-call-request"] = "tool-call-request"


class ToolFilter(Model):
    """Which tools of the server the agent is offered; all of them by default"""

    allow: list[str] | None = None
    """The only tools that are offered. Names as the server gives them, or globs"""
    deny: list[str] | None = None
    """Tools that are not offered, also where `allow` names them. Names as the server gives them, or
    globs
    """


class ToolInputAvailableEvent(Model):
    """The complete input of a tool call"""

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    input: Any
    """The input of the tool call"""
    type: Literal["tool-input-available"] = "tool-input-available"


class ToolInputDeltaEvent(Model):
    """A piece of the input of a tool call, sent while the model writes it"""

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    input_text_delta: str
    """A piece of the input's JSON text"""
    type: Literal["tool-input-delta"] = "tool-input-delta"


class ToolInputErrorEvent(Model):
    """The input does not match the tool's schema. The model gets the error, and the run continues
    """

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    error_text: str
    """What went wrong, and what to do"""
    type: Literal["tool-input-error"] = "tool-input-error"
    input: Any = None
    """The input of the tool call"""


class ToolInputStartEvent(Model):
    """A tool call begins"""

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    type: Literal["tool-input-start"] = "tool-input-start"


class ToolOutputAvailableEvent(Model):
    """The result of a tool call"""

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    output: dict[str, Any]
    """The output of the tool"""
    type: Literal["tool-output-available"] = "tool-output-available"


class ToolOutputDeniedEvent(Model):
    """A tool call was not executed because the user or the configuration denied it"""

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    reason: str
    """Why the call was not executed"""
    type: Literal["tool-output-denied"] = "tool-output-denied"


class ToolOutputErrorEvent(Model):
    """A tool failed. The model gets the error, and the run continues"""

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    error_text: str
    """What went wrong, and what to do"""
    type: Literal["tool-output-error"] = "tool-output-error"


class ToolProgressEvent(Model):
    """How far a call is, as its tool reports it; at most two a second, and none of them is stored
    """

    tool_call_id: str
    """Id of the tool call; all events of a tool call have the same id"""
    tool_name: str
    progress: float
    """It grows from report to report"""
    type: Literal["tool-progress"] = "tool-progress"
    total: float | None = None
    """The value of progress at the end, where the tool knows it"""
    message: str | None = None
    """What the tool is doing; at most 500 characters"""


class ToolServer(Model):
    """A tool server and the state of its connection"""

    name: str
    """Unique name of the connection"""
    status: ToolServerStatus
    """`disconnected`: the connection was lost; `failed`: it could not be established. Both are
    retried after 1 s at first, then with growing delays of up to 60 s. `authorizing`: its user must
    authorize this service first. `disabled`: its entry says that it is not to be connected
    """
    tools: list[str]
    """Names of the tools that the server offers, or offered when it was connected last; models are
    told of them while it is not
    """
    connecting: ConnectionTry | None = None
    """The attempt to connect that is under way"""
    error: str | None = None
    """Why the server is not connected"""
    warnings: list[str] | None = None
    """Tools that are left out, such as one whose definition the provider of a model refused, with
    the reason
    """
    authorization_url: str | None = None
    """The page at which the user authorizes the service, to be opened in a browser within 10
    minutes
    """
    variables: list[str] | None = None
    """It was imported, and is connected once it is accepted: the variables of the environment that
    it gets then
    """
    unsaved: bool | None = None
    """A request is connecting it, and saves it once it is connected. Always true"""


class ToolServerDetail(Model):
    """The details of a tool server"""

    name: str
    """Unique name of the connection"""
    status: ToolServerStatus
    """`disconnected`: the connection was lost; `failed`: it could not be established. Both are
    retried after 1 s at first, then with growing delays of up to 60 s. `authorizing`: its user must
    authorize this service first. `disabled`: its entry says that it is not to be connected
    """
    tools: list[str]
    """Names of the tools that the server offers, or offered when it was connected last; models are
    told of them while it is not
    """
    warnings: list[str]
    """Parts of the server that are not used, and why"""
    digest: str
    """Changes when a tool or its description changes; send it to accept the tools"""
    tool_details: list[ToolServerDetailToolDetailsItem]
    resources: list[ToolServerDetailResourcesItem]
    prompts: list[ToolServerDetailPromptsItem]
    capabilities: dict[str, Any]
    """The capabilities that the server declared"""
    stderr: str
    """The latest stderr output, or what went wrong over HTTP, with secrets redacted"""
    connecting: ConnectionTry | None = None
    """The attempt to connect that is under way"""
    error: str | None = None
    """Why the server is not connected"""
    authorization_url: str | None = None
    """The page at which the user authorizes the service, to be opened in a browser within 10
    minutes
    """
    variables: list[str] | None = None
    """It was imported, and is connected once it is accepted: the variables of the environment that
    it gets then
    """
    unsaved: bool | None = None
    """A request is connecting it, and saves it once it is connected. Always true"""
    command: str | None = None
    """The program of the server, if it is one"""
    url: str | None = None
    """The address of the server, if it has one, without its query"""
    client_id: str | None = None
    """The client of its entry"""
    sandbox: bool | ServerSandbox | None = None
    """The program runs in a box: without your home and secrets, with the network and the folders
    that are named alone. Where no box can be had, it is not started. `true`: no network and no
    folders
    """
    filter: ToolFilter | None = None
    """Which tools of the server the agent is offered; all of them by default"""
    approval: Annotated[Literal["never", "always"], AnyText] | list[str] | None = None
    """The tools of the server whose calls need approval: all of them, none, or the named ones. By
    default, all but those that the server marks with readOnlyHint and its user has accepted as they
    are
    """
    instructions: str | None = None
    """The instructions that the server gives for its use; models see them as text of the server"""
    version: dict[str, Any] | None = None
    """Name and version of the server program"""


class ToolServerList(Model):
    """The tool servers, in the order of config.json, and those that requests are connecting"""

    servers: list[ToolServer]


class ToolServerSettings(Model):
    """Part of a larger object of the service: ToolServerSettings."""

    approval: Annotated[Literal["never", "always"], AnyText] | list[str] | None = None
    """The tools of the server whose calls need approval: all of them, none, or the named ones. By
    default, all but those that the server marks with readOnlyHint and its user has accepted as they
    are
    """
    timeout_ms: int | None = None
    """How long a call of a tool may take, milliseconds; 60,000 by default. Progress that the server
    reports starts it anew, for an hour at most
    """
    connect_ms: int | None = None
    """How long it may take to start and to connect, milliseconds; 60,000 by default, as a program
    may have to be installed first
    """
    tools: ToolFilter | None = None
    """Which tools of the server the agent is offered; all of them by default"""
    enabled: bool | None = None
    """False: the entry is kept, and the server is neither started nor connected"""


class TriggerState(Model):
    """How a trigger is doing"""

    trigger: Trigger
    state: Annotated[Literal[
        "watching",
        "resting",
        "starting",
        "too_large",
        "missing",
        "refused",
        "too_many",
        "gone",
    ], AnyText]
    """watching; resting: the task is not started, or is paused or over; starting: not looked at
    yet; too_large: the folder holds more than 20,000 files; missing: the folder is not there, or
    cannot be read; refused: file tools may not read it; too_many: the tasks together watch too many
    folders; gone: the other task was deleted
    """
    text: str | None = None
    """What is wrong, and what to do, as a sentence"""
    files: int | None = None
    """The number of files that it watches"""
    looked_at: int | None = None
    """When the folder was last looked at"""


class UnclearSchedule(Model):
    """Part of a larger object of the service: UnclearSchedule."""

    understood: bool
    """Always false"""
    reason: str
    """Why nothing is planned, and what can be written"""


class UncoveredCall(Model):
    """A call whose effects nobody here knows, and that an undo does not cover: of a command, a tool
    server or the application
    """

    tool_call_id: str
    tool_name: str
    at: int
    """Milliseconds since the Unix epoch"""
    target: str | None = None
    """What its input named, such as the command"""
    server: str | None = None
    """The tool server whose tool it is"""
    app: str | None = None
    """The application whose tool it is, if it gave itself a name"""
    reason: str | None = None
    """The effects of a command that are not covered, in sentences; the others are among the changes
    """


class UnderstoodSchedule(Model):
    """Part of a larger object of the service: UnderstoodSchedule."""

    understood: bool
    """Always true"""
    schedule: Schedule
    words: str
    """When it runs, as it was understood: "every other week on Friday at 09:00" """
    zone: str
    """The time zone of its local times"""
    next: list[int]
    """The next planned times, at most five, if it were started now"""
    confirm: str | None = None
    """Why a person should confirm the schedule first: it runs more often than hourly"""


class UndoBody(Model):
    """Part of a larger object of the service: UndoBody."""

    paths: list[str] | None = None
    """Only these, and what is below them: paths that the run changed, absolute or relative to its
    working folder. Default: all
    """
    dry_run: bool | None = None
    """Changes nothing, and answers what an undo would do now"""


class Undone(Model):
    """The result of an undo, or its plan"""

    restored: list[str]
    """The paths that are now as they were before the run"""
    skipped: list[SkippedPath]
    """The paths that stay. A git directory, or a database of SQLite with its side files, stays as
    one thing: its path is named
    """
    not_covered: list[UncoveredCall]
    undo_id: str | None = None
    """Absent when nothing was to be changed; that of an undo that was cut off, when this one
    completes it. The undo has changes of its own: GET /runs/{undoId}/changes lists them, and POST
    /runs/{undoId}/undo takes them back
    """
    planned: list[PathChange] | None = None
    """With `dryRun`: what would become of the paths; a move is one change. The first 200"""


class Usage(Model):
    """Tokens and cost of model calls, as their providers count them"""

    input_tokens: int
    """Tokens of the prompts, with the cached and the written ones"""
    cached_input_tokens: int
    """Input tokens that the provider read from its cache"""
    cache_write_tokens: int
    """Input tokens that the provider wrote to its cache"""
    output_tokens: int
    """Tokens of the answers, with those of the reasoning"""
    reasoning_tokens: int
    """Output tokens of the reasoning"""
    cost_usd: float | None = None
    """US dollars; absent when the price of a call is unknown"""
    cost_estimate_of: str | None = None
    """The date of the price table, as 2026-01-31, if a part of the cost is estimated: of calls
    whose providers name no cost
    """


class UsageReport(Model):
    """The model calls of a range of days. Days are sorted by date, other groups by their tokens,
    the most first
    """

    from_: str
    """A day of this machine's time zone, as 2026-01-31"""
    to: str
    """A day of this machine's time zone, as 2026-01-31"""
    groups: list[UsageReportGroupsItem]


class Version(Model):
    """A message of the user as it was before it was edited or answered again, with all that came
    after it
    """

    id: str
    message_id: str
    """The message of the user that stands in its place now, by its id in chats"""
    replaced_at: int
    """Milliseconds since the Unix epoch"""
    text: str
    """The beginning of what the user said"""
    message_count: int
    """The number of messages that were replaced: it, its answer, and all after them"""


class VersionList(Model):
    """The earlier versions of the messages of a thread, the oldest first"""

    versions: list[Version]


class VersionView(Model):
    """An earlier version with its messages"""

    id: str
    message_id: str
    """The message of the user that stands in its place now, by its id in chats"""
    replaced_at: int
    """Milliseconds since the Unix epoch"""
    text: str
    """The beginning of what the user said"""
    message_count: int
    """The number of messages that were replaced: it, its answer, and all after them"""
    messages: list[VersionViewMessagesItem]


class WaitingItem(Model):
    """Part of a larger object of the service: WaitingItem."""

    approval_id: str
    kind: Annotated[Literal["tool", "result", "question", "task", "app"], AnyText]


class AgentPlanStepsItem(Model):
    """Part of a larger object of the service: AgentPlanStepsItem."""

    text: str
    status: Annotated[Literal["pending", "running", "done"], AnyText]


class ApprovalServerToolsItem(Model):
    """Part of a larger object of the service: ApprovalServerToolsItem."""

    name: str
    description: str
    state: Annotated[Literal["new", "changed"], AnyText]
    """changed: it is not as it was accepted"""


class ApprovalGranted(Model):
    """In the list of decisions: what the decision covers beyond the call"""

    scope: Scope
    """once: this call alone; exact: the same input in the same working directory; folder: files
    with this extension in or below the folder; host: this tool at the hosts of the call; sandbox:
    every command in the box of this folder; tool: every call of this tool of a tool server or of
    the application
    """
    until: GrantLimits | None = None
    """When the grant ends: after a number of calls, at a time, or at what comes first"""


class ApprovalDevice(Model):
    """The paired device that decided; absent when it was decided here"""

    device_id: str
    name: str
    """The name that the person gave it"""


class ApprovalPreviewRan(Model):
    """A command that was tried out: how it ended. None of its effects is kept"""

    exit_code: int | None
    stdout: str
    stderr: str
    note: str
    """How the trial differs from a real run, in sentences"""
    timed_out: bool | None = None
    """It was ended after 30 s"""


class BufferRequestsRequestsItem(Model):
    """Part of a larger object of the service: BufferRequestsRequestsItem."""

    request_id: str
    path: str
    """The real path of the file"""


class ChatCompletionChoicesItem(Model):
    """Part of a larger object of the service: ChatCompletionChoicesItem."""

    index: int
    message: ChatCompletionChoicesItemMessage
    logprobs: dict[str, Any] | None
    finish_reason: Annotated[Literal[
        "stop",
        "length",
        "content_filter",
        "tool_calls",
    ], AnyText] = Field(validation_alias="finish_reason", serialization_alias="finish_reason")


class ChatCompletionUsage(Model):
    """Tokens of all model calls for this answer"""

    prompt_tokens: int = Field(validation_alias="prompt_tokens", serialization_alias="prompt_tokens")
    completion_tokens: int = Field(validation_alias="completion_tokens", serialization_alias="completion_tokens")
    total_tokens: int = Field(validation_alias="total_tokens", serialization_alias="total_tokens")
    prompt_tokens_details: ChatCompletionUsagePromptTokensDetails = Field(validation_alias="prompt_tokens_details", serialization_alias="prompt_tokens_details")
    completion_tokens_details: ChatCompletionUsageCompletionTokensDetails = Field(validation_alias="completion_tokens_details", serialization_alias="completion_tokens_details")


class ChatCompletionBodyMessagesItem(Model):
    """Part of a larger object of the service: ChatCompletionBodyMessagesItem."""

    role: str
    """One of developer, system, user, assistant, tool"""
    content: str | None | list[ChatCompletionBodyMessagesItemContent2Item] = None
    tool_calls: list[ChatCompletionBodyMessagesItemToolCallsItem] | None = Field(default=None, validation_alias="tool_calls", serialization_alias="tool_calls")
    tool_call_id: str | None = Field(default=None, validation_alias="tool_call_id", serialization_alias="tool_call_id")


class ChatCompletionBodyStreamOptions(Model):
    """Part of a larger object of the service: ChatCompletionBodyStreamOptions."""

    include_usage: bool | None = Field(default=None, validation_alias="include_usage", serialization_alias="include_usage")


class ChatCompletionBodyToolsItem(Model):
    """Part of a larger object of the service: ChatCompletionBodyToolsItem."""

    type: Annotated[Literal["function"], AnyText]
    function: ChatCompletionBodyToolsItemFunction | None = None


class ChatCompletionBodyToolChoice(Model):
    """Part of a larger object of the service: ChatCompletionBodyToolChoice."""

    type: Annotated[Literal["function", "allowed_tools"], AnyText]
    function: ChatCompletionBodyToolChoiceFunction | None = None
    allowed_tools: ChatCompletionBodyToolChoiceAllowedTools | None = Field(default=None, validation_alias="allowed_tools", serialization_alias="allowed_tools")


class ChatCompletionBodyResponseFormat(Model):
    """Part of a larger object of the service: ChatCompletionBodyResponseFormat."""

    type: Annotated[Literal["text", "json_object", "json_schema"], AnyText]
    json_schema: ChatCompletionBodyResponseFormatJsonSchema | None = Field(default=None, validation_alias="json_schema", serialization_alias="json_schema")


class ChatCompletionBodyFunctionCall(Model):
    """Part of a larger object of the service: ChatCompletionBodyFunctionCall."""

    name: str | None = None


class ChatCompletionChunkChoicesItem(Model):
    """Part of a larger object of the service: ChatCompletionChunkChoicesItem."""

    index: int
    delta: ChatCompletionChunkChoicesItemDelta
    logprobs: dict[str, Any] | None
    finish_reason: Annotated[Literal[
        "stop",
        "length",
        "content_filter",
        "tool_calls",
    ], AnyText] | None = Field(validation_alias="finish_reason", serialization_alias="finish_reason")


class ChatCompletionChunkUsage(Model):
    """Tokens of all model calls for this answer"""

    prompt_tokens: int = Field(validation_alias="prompt_tokens", serialization_alias="prompt_tokens")
    completion_tokens: int = Field(validation_alias="completion_tokens", serialization_alias="completion_tokens")
    total_tokens: int = Field(validation_alias="total_tokens", serialization_alias="total_tokens")
    prompt_tokens_details: ChatCompletionChunkUsagePromptTokensDetails = Field(validation_alias="prompt_tokens_details", serialization_alias="prompt_tokens_details")
    completion_tokens_details: ChatCompletionChunkUsageCompletionTokensDetails = Field(validation_alias="completion_tokens_details", serialization_alias="completion_tokens_details")


class ChatErrorError(Model):
    """Part of a larger object of the service: ChatErrorError."""

    message: str
    """A sentence that says what went wrong and what to do"""
    type: str
    param: str | None
    code: str | None
    """OpenAI's code where it has one, else the code of this service, ERR_…"""


class ConfigPatchModels(Model):
    """Part of a larger object of the service: ConfigPatchModels."""

    fast: str | None = None
    """`<provider>/<model>`"""
    vision: str | None = None
    """`<provider>/<model>`"""
    fallback: str | None = None
    """`<provider>/<model>`"""
    settings: ConfigPatchModelsSettings | None = None


class ConfigPatchPricesValue(Model):
    """Part of a larger object of the service: ConfigPatchPricesValue."""

    input: float | None = None
    output: float | None = None
    cached_input: float | None = None
    cache_write: float | None = None


class ConfigPatchBudget(Model):
    """Part of a larger object of the service: ConfigPatchBudget."""

    day: ConfigPatchBudgetDay | None = None
    tasks_per_day: ConfigPatchBudgetTasksPerDay | None = None


class ConfigPatchProvidersValue(Model):
    """Part of a larger object of the service: ConfigPatchProvidersValue."""

    kind: Annotated[Literal[
        "openai-compatible",
        "openai",
        "anthropic",
        "google",
    ], AnyText] | None = None
    """The API that the server speaks; openai-compatible by default"""
    base_url: str | None = Field(default=None, validation_alias="baseURL", serialization_alias="baseURL")
    """An http or https address such as http://127.0.0.1:11434/v1, without user name, query or
    fragment
    """
    api_key: str | None = None
    models: list[str] | None = None
    files: list[str] | None = None
    window: int | None = None
    local: bool | None = None
    timeouts: ConfigPatchProvidersValueTimeouts | None = None


class ConfigPatchNotify(Model):
    """Part of a larger object of the service: ConfigPatchNotify."""

    webhook: ConfigPatchNotifyWebhook | None = None


class ConfigPatchReach(Model):
    """Part of a larger object of the service: ConfigPatchReach."""

    port: int | None = None
    host: str | None = None
    """An address or a name, such as 127.0.0.1"""
    address: str | None = None
    """The https address in front of the port, such as https://agent.example.org, without a path"""


class ConfigPatchDiscovery(Model):
    """Part of a larger object of the service: ConfigPatchDiscovery."""

    ports: list[int] | None = None


class ConfigPatchGateway(Model):
    """Part of a larger object of the service: ConfigPatchGateway."""

    base_url: str | None = Field(default=None, validation_alias="baseURL", serialization_alias="baseURL")
    timeouts: ConfigPatchGatewayTimeouts | None = None


class ConfigPatchFetch(Model):
    """Part of a larger object of the service: ConfigPatchFetch."""

    allow_private: bool | None = None


class ConfigPatchSearch(Model):
    """Part of a larger object of the service: ConfigPatchSearch."""

    provider: Annotated[Literal["duckduckgo", "tavily", "brave", "searxng"], AnyText] | None = None
    api_key: str | None = None
    base_url: str | None = Field(default=None, validation_alias="baseURL", serialization_alias="baseURL")
    """An http or https address such as http://127.0.0.1:11434/v1, without user name, query or
    fragment
    """


class ConfigPatchCommands(Model):
    """Part of a larger object of the service: ConfigPatchCommands."""

    sandbox: Annotated[Literal["auto", "required", "off"], AnyText] | None = None
    """auto: commands run in a box where one can be had, unless a call asks to run outside;
    required: in a box or not at all
    """


class ConfigPatchSkills(Model):
    """Part of a larger object of the service: ConfigPatchSkills."""

    folders: list[str] | None = None
    enabled: bool | None = None


class ConfigPatchLimits(Model):
    """Part of a larger object of the service: ConfigPatchLimits."""

    live_runs: int | None = None


class ConfigPatchTasks(Model):
    """Part of a larger object of the service: ConfigPatchTasks."""

    concurrency: int | None = None
    approval_ttl: int | None = None


class ConfigPatchBrain(Model):
    """Part of a larger object of the service: ConfigPatchBrain."""

    extract_after: bool | None | int = None


class ConfigPatchUndo(Model):
    """Part of a larger object of the service: ConfigPatchUndo."""

    max_file_mb: int | None = None
    max_total_mb: int | None = None
    days: int | None = None


class ConfigPatchThreads(Model):
    """Part of a larger object of the service: ConfigPatchThreads."""

    titles: bool | None = None


class ConfigPatchAgent(Model):
    """Part of a larger object of the service: ConfigPatchAgent."""

    steps: ConfigPatchAgentSteps | None = None
    run_ms: int | None = None


class ConfigPatchOffline(Model):
    """Part of a larger object of the service: ConfigPatchOffline."""

    script: list[ConfigPatchOfflineScriptItem] | None = None


class ConfigPatchLog(Model):
    """Part of a larger object of the service: ConfigPatchLog."""

    level: Annotated[Literal[
        "fatal",
        "error",
        "warn",
        "info",
        "debug",
        "trace",
        "silent",
    ], AnyText] | None = None
    file: bool | None | str = None
    """A file that gets the log, too; true: logs/local-agent.log in the configuration directory"""
    max_bytes: int | None = None
    """Size of a file, bytes; by default 10 MiB"""
    keep: int | None = None
    """Number of older files that are kept; by default 5"""


class DataNoticeEventData(Model):
    """Part of a larger object of the service: DataNoticeEventData."""

    code: Annotated[Literal[
        "no-tools",
        "no-pictures",
        "file-refused",
        "tool-refused",
        "prompt-cut",
        "no-task",
    ], AnyText]
    """The model takes no tools or no pictures, or refused a file or a tool, and goes on without; or
    its server reads less than it was sent; no-task: the request names a time, and no task was made
    or changed
    """
    text: str
    """A sentence for the user that says what is missing and what to do"""
    task: DataNoticeEventDataTask | None = None
    """For the code no-task: the body for POST /tasks that makes the task"""


class DataObjectEventData(Model):
    """Part of a larger object of the service: DataObjectEventData."""

    object: dict[str, Any]
    """The structured answer; it fits options.object.schema"""
    attempts: int
    """The answers of the model, with those that did not fit"""


class DataRetryEventData(Model):
    """Part of a larger object of the service: DataRetryEventData."""

    attempt: int
    """Counted from 1 within the step"""
    reason: str
    """A sentence that says what happened"""
    dropped: list[str]
    """Ids of the parts and calls that are void: all since the last start-step"""


class DataRevisionEventData(Model):
    """Part of a larger object of the service: DataRevisionEventData."""

    text: str
    """The whole text of the second version"""


class DataWaitingEventData(Model):
    """Part of a larger object of the service: DataWaitingEventData."""

    since_ms: int
    """How long nothing has come, milliseconds"""
    for_: Literal["model"] = "model"


class DigestTasks(Model):
    """What happened, by task: first those with something new, by the time of their newest"""

    items: list[DigestTasksItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestChats(Model):
    """Conversations in which runs have ended, by the time of the newest; not those that work or
    wait now
    """

    items: list[DigestChatsItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestNotRun(Model):
    """Planned times without a run, with the reason: skipped on purpose or missed; newest first"""

    items: list[DigestNotRunItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestFired(Model):
    """Triggers that fired for what happened while the service was away, or without a run; newest
    first
    """

    items: list[DigestFiredItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestWaiting(Model):
    """Open approval requests and questions, whenever they were made, oldest first"""

    items: list[DigestWaitingItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestWaitingForApp(Model):
    """Open calls of tools of applications, whenever they were made, oldest first"""

    items: list[DigestWaitingForAppItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestWorking(Model):
    """Runs that are executing or queued, oldest first"""

    items: list[DigestWorkingItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestFailing(Model):
    """Tasks whose last five runs or more have failed, and which are tried less often; newest first
    """

    items: list[DigestFailingItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestNext(Model):
    """The next planned time of each task, earliest first"""

    items: list[DigestNextItemsItem]
    more: int
    """Number of items that are not listed; at most 1000 past items are counted"""


class DigestUnaskedCallsItem(Model):
    """Part of a larger object of the service: DigestUnaskedCallsItem."""

    tool_call_id: str
    tool_name: str
    about: str
    """What the call is about, shortened: a path, a command, host and path of an address, or the
    first fields of its input
    """


class ExtractionRejectedItem(Model):
    """Part of a larger object of the service: ExtractionRejectedItem."""

    reason: str
    count: int


class FiringFilesItem(Model):
    """Part of a larger object of the service: FiringFilesItem."""

    path: str
    """Relative to the folder of the trigger"""
    kind: Annotated[Literal["new", "changed", "deleted"], AnyText]


class FiringEndsItem(Model):
    """Part of a larger object of the service: FiringEndsItem."""

    task_id: str
    run_id: str
    on: Annotated[Literal["completed", "failed"], AnyText]


class FolderPartsItem(Model):
    """Part of a larger object of the service: FolderPartsItem."""

    name: str
    path: str


class FolderFoldersItem(Model):
    """Part of a larger object of the service: FolderFoldersItem."""

    name: str
    path: str
    link: str | None = None
    """The folder that it leads to, if it is a link"""
    problem: Annotated[Literal[
        "unreadable",
        "own",
        "system",
        "outside",
        "broken",
        "name",
    ], AnyText] | None = None
    """Why it cannot be chosen: `unreadable`, this user may not read it; `own`, it is the folder of
    the service itself; `system`, devices and the kernel; `outside`, no folder that file tools may
    use with the given `cwd`; `broken`, a link that leads nowhere; `name`, it cannot be written as
    text
    """


class GrantSuspended(Model):
    """The grant rests since this file was written unasked, until a person approves the command
    again
    """

    at: int
    """Milliseconds since the Unix epoch"""
    path: str


class HealthChecks(Model):
    """State of each part: "ok", or a description of the problem"""

    store: str
    config: str
    scheduler: str
    """The scheduler of tasks; "starting" while it recovers runs that were interrupted"""
    model: str
    awake: str
    """Why the machine may fall asleep while the agent works; the agent works all the same"""
    workspace: str
    """Why there is no default workspace; requests with `cwd` are served all the same"""


class ImportedServerInputsItem(Model):
    """Part of a larger object of the service: ImportedServerInputsItem."""

    id: str
    description: str | None = None
    """What the file says of it"""


class KnownFactSource(Model):
    """The words of the user from which the fact was learned"""

    thread_id: str
    message: int
    """Index of the message in the thread, from 0"""
    span: str
    """The words of the user, verbatim"""
    message_id: str | None = None


class LearnedGrantsItem(Model):
    """Part of a larger object of the service: LearnedGrantsItem."""

    grant_id: str
    tool_name: str
    text: str
    """What it covers, in words"""


class MemoryChangedEventLearnedItem(Model):
    """Part of a larger object of the service: MemoryChangedEventLearnedItem."""

    id: str
    kind: Annotated[Literal["fact", "preference", "instruction", "pattern"], AnyText]
    fact: str


class ModelListModelsItem(Model):
    """Part of a larger object of the service: ModelListModelsItem."""

    id: str
    """`<provider>/<model>`"""
    name: str
    provider: str
    context_window: int | None = None
    """Size of the context window in tokens"""
    pricing: ModelListModelsItemPricing | None = None
    """Prices in US dollars per token"""
    size_bytes: int | None = None
    """For a file of weights"""
    state: Annotated[Literal["stopped", "loading", "loaded"], AnyText] | None = None
    """For a file of weights: whether it is in memory"""
    tokens_per_second: float | None = None
    """For a file of weights: the speed of its last answer"""
    unavailable: str | None = None
    """Why the model cannot be used, and what to do"""


class ModelListErrorsItem(Model):
    """Part of a larger object of the service: ModelListErrorsItem."""

    provider: str
    error: str


class ModelListDiscoveredItem(Model):
    """Part of a larger object of the service: ModelListDiscoveredItem."""

    server: str
    """The program that was recognised"""
    base_url: str = Field(validation_alias="baseURL", serialization_alias="baseURL")
    models: list[str]
    use: str
    """How to use the server"""
    provider: str | None = None
    """The provider of config.json that has this address"""
    config: dict[str, Any] | None = None
    """What to merge into config.json to use the server"""


class ModelListFilesItem(Model):
    """Part of a larger object of the service: ModelListFilesItem."""

    program: str
    """The program that keeps it, such as Ollama"""
    path: str
    size_bytes: int
    model: str
    """The id of the model that it becomes: `local/<name>`"""
    use: str
    """How to use the file"""
    context_window: int | None = None
    """The context window that fits this computer, tokens"""
    unavailable: str | None = None
    """Why the model could not be used, and what to do"""


class ModelResponseError(Model):
    """Part of a larger object of the service: ModelResponseError."""

    code: str
    message: str


class ModelResponseIncompleteDetails(Model):
    """Part of a larger object of the service: ModelResponseIncompleteDetails."""

    reason: Annotated[Literal["max_output_tokens", "content_filter"], AnyText]


class ModelResponseOutputItem1(Model):
    """Part of a larger object of the service: ModelResponseOutputItem1."""

    id: str
    status: Annotated[Literal["in_progress", "completed", "incomplete"], AnyText]
    content: list[ModelResponseOutputItem1ContentItem1 | ModelResponseOutputItem1ContentItem2]
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"


class ModelResponseOutputItem2(Model):
    """Part of a larger object of the service: ModelResponseOutputItem2."""

    id: str
    call_id: str = Field(validation_alias="call_id", serialization_alias="call_id")
    name: str
    arguments: str
    """JSON"""
    status: Annotated[Literal["in_progress", "completed", "incomplete"], AnyText]
    type: Literal["function_call"] = "function_call"


class ModelResponseOutputItem3(Model):
    """Part of a larger object of the service: ModelResponseOutputItem3."""

    id: str
    summary: list[ModelResponseOutputItem3SummaryItem]
    status: Annotated[Literal["in_progress", "completed", "incomplete"], AnyText]
    type: Literal["reasoning"] = "reasoning"


class ModelResponseUsage(Model):
    """Tokens of all model calls for this answer"""

    input_tokens: int = Field(validation_alias="input_tokens", serialization_alias="input_tokens")
    input_tokens_details: ModelResponseUsageInputTokensDetails = Field(validation_alias="input_tokens_details", serialization_alias="input_tokens_details")
    output_tokens: int = Field(validation_alias="output_tokens", serialization_alias="output_tokens")
    output_tokens_details: ModelResponseUsageOutputTokensDetails = Field(validation_alias="output_tokens_details", serialization_alias="output_tokens_details")
    total_tokens: int = Field(validation_alias="total_tokens", serialization_alias="total_tokens")


class NotificationDeliveriesItem(Model):
    """Part of a larger object of the service: NotificationDeliveriesItem."""

    at: int
    """Milliseconds since the Unix epoch"""
    ok: bool
    reminder: bool
    status: int | None = None
    """The HTTP status of the answer"""
    error: str | None = None
    """Why it failed"""


class PlanInputPhasesItem(Model):
    """Part of a larger object of the service: PlanInputPhasesItem."""

    description: str


class PromptArgumentsItem(Model):
    """Part of a larger object of the service: PromptArgumentsItem."""

    name: str
    title: str | None = None
    """Its name for people"""
    description: str | None = None
    icons: list[dict[str, Any]] | None = None
    """As the server gives them: an address is not loaded by the service, and need not be trusted"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""
    required: bool | None = None
    """Always true"""


class ProviderListProvidersItem(Model):
    """Part of a larger object of the service: ProviderListProvidersItem."""

    name: str
    default_model: str = Field(validation_alias="default_model", serialization_alias="default_model")
    """`<provider>/<model>`"""
    kind: Annotated[Literal["offline", "direct", "gateway"], AnyText]
    configured: bool
    takes_key: bool
    """Whether it can be given a key: not the offline model, nor files of models"""
    key_from: Annotated[Literal["stored", "environment", "config"], AnyText] | None = None
    """Where its key comes from: stored by POST /providers/configure, which also removes it; the
    environment or the parent process; or config.json. Absent when it has none
    """


class ProviderListRoles(Model):
    """Part of a larger object of the service: ProviderListRoles."""

    fast: str
    """`<provider>/<model>`"""
    capable: str
    """`<provider>/<model>`"""
    vision: str
    """`<provider>/<model>`"""


class ProviderListReach(Model):
    """Where the model server of each role is: on this machine, in the user's own network, or
    elsewhere (cloud). A role for which config.json names no model stays with the provider of the
    active model
    """

    fast: Annotated[Literal["machine", "network", "cloud"], AnyText]
    capable: Annotated[Literal["machine", "network", "cloud"], AnyText]
    vision: Annotated[Literal["machine", "network", "cloud"], AnyText]


class ProviderTestedFindingsItem(Model):
    """Part of a larger object of the service: ProviderTestedFindingsItem."""

    about: Annotated[Literal[
        "stream",
        "system",
        "tool-call",
        "call-without-text",
        "two-calls",
        "two-messages",
        "json",
        "picture",
        "long-prompt",
        "portable-ids",
        "no-thoughts",
        "thoughts",
        "no-tool-pictures",
        "no-pictures",
        "no-system",
        "one-call",
        "tools-in-words",
    ], AnyText]
    """The feature that was tried, or (from portable-ids on) a need that requests to this model meet
    from now on
    """
    ok: bool
    text: str
    """What was found, in a sentence"""


class QuestionOptionsItem(Model):
    """Part of a larger object of the service: QuestionOptionsItem."""

    value: str
    """The answer when this option is chosen"""
    label: str
    """The option as the user reads it"""


class ReasoningStartEventProviderMetadata(Model):
    """Present when the block is the analysis of the request; absent for the model's own thinking"""

    agent: ReasoningStartEventProviderMetadataAgent


class ResourceContentsItem(Model):
    """Part of a larger object of the service: ResourceContentsItem."""

    uri: str
    size: int
    """Characters of the text, or bytes of the blob, also where it is cut or left out"""
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    """Base64"""
    is_cut: bool | None = None
    """The text is cut, or the blob left out: the answer would be too large. Always true"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""


class ResponseBodyInput2Item(Model):
    """Part of a larger object of the service: ResponseBodyInput2Item."""

    type: Annotated[Literal[
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
    ], AnyText] | None = None
    """message if absent"""
    role: str | None = None
    """Of a message: developer, system, user or assistant"""
    content: str | None | list[ResponseBodyInput2ItemContent2Item] = None
    call_id: str | None = Field(default=None, validation_alias="call_id", serialization_alias="call_id")
    name: str | None = None
    arguments: str | None = None
    """JSON"""
    output: str | list[ResponseBodyInput2ItemOutput2Item] | None = None


class ResponseBodyToolsItem(Model):
    """Part of a larger object of the service: ResponseBodyToolsItem."""

    type: Annotated[Literal["function"], AnyText]
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ResponseBodyToolChoice(Model):
    """Part of a larger object of the service: ResponseBodyToolChoice."""

    type: Annotated[Literal["function", "allowed_tools"], AnyText]
    name: str | None = None
    mode: Annotated[Literal["auto", "required"], AnyText] | None = None
    """Of allowed_tools"""
    tools: list[ResponseBodyToolChoiceToolsItem] | None = None


class ResponseBodyText(Model):
    """Part of a larger object of the service: ResponseBodyText."""

    format: ResponseBodyTextFormat | None = None


class ResponseBodyReasoning(Model):
    """Part of a larger object of the service: ResponseBodyReasoning."""

    effort: str | None = None
    """none, minimal, low, medium, high, xhigh or max"""


class ResponseBodyConversation(Model):
    """Part of a larger object of the service: ResponseBodyConversation."""

    id: str | None = None


class RunBodyPrompt(Model):
    """A prompt of a tool server (`GET /mcp/prompts`), in front of `message` or of the last of
    `messages`, or in their place. In the thread its words are quoted in the message of the user,
    with the name of the server. Later requests leave them out
    """

    server: str
    name: str
    arguments: dict[str, str] | None = None


class RunResultToolCallsItem(Model):
    """Part of a larger object of the service: RunResultToolCallsItem."""

    tool_call_id: str
    tool_name: str
    status: Annotated[Literal["pending", "completed", "error", "denied"], AnyText]
    input: Any = None
    output: Any = None
    error_text: str | None = None


class RunResultPendingApprovalsItem(Model):
    """Part of a larger object of the service: RunResultPendingApprovalsItem."""

    approval_id: str
    tool_call_id: str
    tool_name: str
    input: Any
    cwd: str | None = None
    """Real path of the working directory of the call"""
    reason: str | None = None
    """Why the approval is requested again"""
    reasons: list[AskReason] | None = None
    """Why the call asks"""
    boundary: Boundary | None = None
    """Commands: where the command would run"""
    tool_server: CallServer | None = None
    """Tools of tool servers: whose tool it is"""
    scopes: list[ScopeChoice] | None = None
    """The scopes that an answer can choose from, as "scope" """
    expires_at: int | None = None
    """Milliseconds since the Unix epoch"""


class RunResultPendingQuestionsItem(Model):
    """Part of a larger object of the service: RunResultPendingQuestionsItem."""

    approval_id: str
    """Id of the questions, for POST /approvals/{id}"""
    questions: list[Question]
    expires_at: int
    """Milliseconds since the Unix epoch"""
    tool_call_id: str | None = None
    """The call that asks"""
    budget: ReachedBudget | None = None


class RunResultPendingToolCallsItem(Model):
    """Part of a larger object of the service: RunResultPendingToolCallsItem."""

    tool_call_id: str
    tool_name: str
    input: Any
    expires_at: int
    """Milliseconds since the Unix epoch"""


class SearchSnippetMatchesItem(Model):
    """Part of a larger object of the service: SearchSnippetMatchesItem."""

    start: int
    """Where it begins in `text`, in UTF-16 code units"""
    end: int
    """Where it ends"""


class SheetAnswerLinesItem(Model):
    """Part of a larger object of the service: SheetAnswerLinesItem."""

    line: int
    """The number of the line"""
    scope: Scope
    """once: this call alone; exact: the same input in the same working directory; folder: files
    with this extension in or below the folder; host: this tool at the hosts of the call; sandbox:
    every command in the box of this folder; tool: every call of this tool of a tool server or of
    the application
    """
    until: GrantLimits | None = None
    """When the grant ends: after a number of calls, at a time, or at what comes first"""


class SheetLineAccepted(Model):
    """The accepted scope, and the grant that was made"""

    scope: Scope
    """once: this call alone; exact: the same input in the same working directory; folder: files
    with this extension in or below the folder; host: this tool at the hosts of the call; sandbox:
    every command in the box of this folder; tool: every call of this tool of a tool server or of
    the application
    """
    grant_id: str
    at: int
    """Milliseconds since the Unix epoch"""


class StartEventMessageMetadata(Model):
    """Part of a larger object of the service: StartEventMessageMetadata."""

    thread_id: str
    """Id of the conversation; send it as `id` in the next request"""
    run_id: str
    dry_run: bool | None = None
    """The run is a rehearsal: nothing of it happens. Always true"""
    undone: ReplacedChanges | None = None


class TaskApproval(Model):
    """Part of a larger object of the service: TaskApproval."""

    mode: TaskApprovalMode
    first_n: int
    approved_runs: int
    """Number of runs whose result was approved since the last change of goal or plan"""


class TaskApprovalHistoryItem(Model):
    """Part of a larger object of the service: TaskApprovalHistoryItem."""

    approval_id: str
    run_id: str
    run_number: int
    kind: Annotated[Literal["tool", "result", "question"], AnyText]
    approved: bool
    at: int
    """Milliseconds since the Unix epoch"""
    tool_name: str | None = None
    notes: str | None = None
    device: TaskApprovalHistoryItemDevice | None = None
    """The paired device that decided"""
    expired: bool | None = None
    """Whether the request expired without a decision. The run was rejected, but completed when its
    result was all that waited
    """


class TaskSteeringHistoryItem(Model):
    """Part of a larger object of the service: TaskSteeringHistoryItem."""

    id: str
    comment: str
    created_at: int
    """Milliseconds since the Unix epoch"""
    run_id: str | None = None
    """The first run that got the comment"""


class TaskWaitingForItem(Model):
    """Part of a larger object of the service: TaskWaitingForItem."""

    kind: Annotated[Literal["tool", "result", "question", "app"], AnyText]
    id: str
    """The approvalId, or the toolCallId of a call of the application"""


class TaskMemoryFeedbackItem(Model):
    """Part of a larger object of the service: TaskMemoryFeedbackItem."""

    run_id: str
    approved: bool
    notes: str
    at: int
    """Milliseconds since the Unix epoch"""


class TaskMemoryReplacedItem(Model):
    """Part of a larger object of the service: TaskMemoryReplacedItem."""

    entry: str
    kind: Annotated[Literal["findings", "decisions"], AnyText]
    """Its list"""
    by: str
    """The entry that took its place"""


class TaskMemoryDoubtedItem(Model):
    """Part of a larger object of the service: TaskMemoryDoubtedItem."""

    entry: str
    kind: Annotated[Literal["findings", "decisions"], AnyText]
    """Its list"""


class ToolServerDetailToolDetailsItem(Model):
    """Part of a larger object of the service: ToolServerDetailToolDetailsItem."""

    name: str
    """The server's name of the tool"""
    description: str
    input_schema: dict[str, Any]
    """JSON Schema of the input, as the server sent it"""
    acceptance: Annotated[Literal["accepted", "new", "changed"], AnyText]
    """Whether the user accepted the tool as it is now: only then its word counts that it only reads
    """
    agent_name: str | None = None
    """The agent's name of the tool; absent when the agent is not offered it"""
    not_offered: str | None = None
    """Why the agent is not offered the tool"""
    title: str | None = None
    """Its name for people"""
    icons: list[dict[str, Any]] | None = None
    """As the server gives them: an address is not loaded by the service, and need not be trusted"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""
    annotations: dict[str, Any] | None = None
    """The server's annotations of the tool"""


class ToolServerDetailResourcesItem(Model):
    """Part of a larger object of the service: ToolServerDetailResourcesItem."""

    uri: str
    name: str
    title: str | None = None
    """Its name for people"""
    description: str | None = None
    icons: list[dict[str, Any]] | None = None
    """As the server gives them: an address is not loaded by the service, and need not be trusted"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""
    mime_type: str | None = None
    size: float | None = None
    """Bytes"""


class ToolServerDetailPromptsItem(Model):
    """Part of a larger object of the service: ToolServerDetailPromptsItem."""

    name: str
    title: str | None = None
    """Its name for people"""
    description: str | None = None
    icons: list[dict[str, Any]] | None = None
    """As the server gives them: an address is not loaded by the service, and need not be trusted"""
    meta_: dict[str, Any] | None = Field(default=None, validation_alias="_meta", serialization_alias="_meta")
    """What the server adds for applications, unchanged"""


class UsageReportGroupsItem(Model):
    """Part of a larger object of the service: UsageReportGroupsItem."""

    key: str
    """The day, model, role, task id or thread id. `""` groups the calls whose task or thread was
    deleted, and what is beyond the 1,000 largest groups
    """
    calls: int
    """Number of model calls"""
    input_tokens: int
    """Tokens of the prompts, with the cached and the written ones"""
    cached_input_tokens: int
    """Input tokens that the provider read from its cache"""
    cache_write_tokens: int
    """Input tokens that the provider wrote to its cache"""
    output_tokens: int
    """Tokens of the answers, with those of the reasoning"""
    reasoning_tokens: int
    """Output tokens of the reasoning"""
    unpriced_calls: int
    """Number of calls whose price is unknown"""
    cost_usd: float | None = None
    """US dollars of the calls whose price is known; absent when it is of none"""
    cost_estimate_of: str | None = None
    """The date of the price table, as 2026-01-31, if a part of the cost is estimated: of calls
    whose providers name no cost
    """


class VersionViewMessagesItem(Model):
    """A message, as in the thread"""

    role: str


class ChatCompletionChoicesItemMessage(Model):
    """Part of a larger object of the service: ChatCompletionChoicesItemMessage."""

    content: str | None
    refusal: str | None
    """Why the model gives no answer of the form that was asked for"""
    role: Literal["assistant"] = "assistant"
    reasoning_content: str | None = Field(default=None, validation_alias="reasoning_content", serialization_alias="reasoning_content")
    """How the request is read, and what the model thought"""
    tool_calls: list[ChatCompletionChoicesItemMessageToolCallsItem] | None = Field(default=None, validation_alias="tool_calls", serialization_alias="tool_calls")


class ChatCompletionUsagePromptTokensDetails(Model):
    """Part of a larger object of the service: ChatCompletionUsagePromptTokensDetails."""

    cached_tokens: int = Field(validation_alias="cached_tokens", serialization_alias="cached_tokens")


class ChatCompletionUsageCompletionTokensDetails(Model):
    """Part of a larger object of the service: ChatCompletionUsageCompletionTokensDetails."""

    reasoning_tokens: int = Field(validation_alias="reasoning_tokens", serialization_alias="reasoning_tokens")


class ChatCompletionBodyMessagesItemContent2Item(Model):
    """Part of a larger object of the service: ChatCompletionBodyMessagesItemContent2Item."""

    type: str


class ChatCompletionBodyMessagesItemToolCallsItem(Model):
    """Part of a larger object of the service: ChatCompletionBodyMessagesItemToolCallsItem."""

    id: str
    function: ChatCompletionBodyMessagesItemToolCallsItemFunction | None = None


class ChatCompletionBodyToolsItemFunction(Model):
    """Part of a larger object of the service: ChatCompletionBodyToolsItemFunction."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ChatCompletionBodyToolChoiceFunction(Model):
    """Part of a larger object of the service: ChatCompletionBodyToolChoiceFunction."""

    name: str


class ChatCompletionBodyToolChoiceAllowedTools(Model):
    """Part of a larger object of the service: ChatCompletionBodyToolChoiceAllowedTools."""

    tools: list[ChatCompletionBodyToolChoiceAllowedToolsToolsItem]
    mode: Annotated[Literal["auto", "required"], AnyText] | None = None


class ChatCompletionBodyResponseFormatJsonSchema(Model):
    """Part of a larger object of the service: ChatCompletionBodyResponseFormatJsonSchema."""

    schema_: dict[str, Any] | None = None


class ChatCompletionChunkChoicesItemDelta(Model):
    """Part of a larger object of the service: ChatCompletionChunkChoicesItemDelta."""

    role: Literal["assistant"] | None = "assistant"
    content: str | None = None
    reasoning_content: str | None = Field(default=None, validation_alias="reasoning_content", serialization_alias="reasoning_content")
    refusal: str | None = None
    tool_calls: list[ChatCompletionChunkChoicesItemDeltaToolCallsItem] | None = Field(default=None, validation_alias="tool_calls", serialization_alias="tool_calls")


class ChatCompletionChunkUsagePromptTokensDetails(Model):
    """Part of a larger object of the service: ChatCompletionChunkUsagePromptTokensDetails."""

    cached_tokens: int = Field(validation_alias="cached_tokens", serialization_alias="cached_tokens")


class ChatCompletionChunkUsageCompletionTokensDetails(Model):
    """Part of a larger object of the service: ChatCompletionChunkUsageCompletionTokensDetails."""

    reasoning_tokens: int = Field(validation_alias="reasoning_tokens", serialization_alias="reasoning_tokens")


class ConfigPatchModelsSettings(Model):
    """Part of a larger object of the service: ConfigPatchModelsSettings."""

    capable: ConfigPatchModelsSettingsCapable | None = None
    fast: ConfigPatchModelsSettingsFast | None = None
    vision: ConfigPatchModelsSettingsVision | None = None


class ConfigPatchBudgetDay(Model):
    """Part of a larger object of the service: ConfigPatchBudgetDay."""

    usd: float | None = None
    tokens: int | None = None


class ConfigPatchBudgetTasksPerDay(Model):
    """Part of a larger object of the service: ConfigPatchBudgetTasksPerDay."""

    usd: float | None = None
    tokens: int | None = None


class ConfigPatchProvidersValueTimeouts(Model):
    """Part of a larger object of the service: ConfigPatchProvidersValueTimeouts."""

    first_token_ms: int | None = None
    """How long a model may take to begin its answer; by default 120,000, or 900,000 on this machine
    and in its private network, milliseconds
    """
    idle_ms: int | None = None
    """How long a model may send nothing within its answer; by default 60,000, or 300,000 on this
    machine and in its private network, milliseconds
    """


class ConfigPatchNotifyWebhook(Model):
    """Part of a larger object of the service: ConfigPatchNotifyWebhook."""

    url: str | None = None
    """An http or https address such as https://example.com/mcp, without user name and fragment"""
    secret: str | None = None
    """The key that signs messages: base64 of at least 18 bytes, as `openssl rand -base64 32` makes
    it; or a variable
    """
    text: bool | None = None


class ConfigPatchGatewayTimeouts(Model):
    """Part of a larger object of the service: ConfigPatchGatewayTimeouts."""

    first_token_ms: int | None = None
    """How long a model may take to begin its answer; by default 120,000, or 900,000 on this machine
    and in its private network, milliseconds
    """
    idle_ms: int | None = None
    """How long a model may send nothing within its answer; by default 60,000, or 300,000 on this
    machine and in its private network, milliseconds
    """


class ConfigPatchAgentSteps(Model):
    """Part of a larger object of the service: ConfigPatchAgentSteps."""

    conversation: int | None = None
    task: int | None = None


class ConfigPatchOfflineScriptItem(Model):
    """Part of a larger object of the service: ConfigPatchOfflineScriptItem."""

    text: str | None = None
    tool_calls: list[ConfigPatchOfflineScriptItemToolCallsItem] | None = None
    delay_ms: int | None = None
    chunk_ms: int | None = None
    error: str | None = None


class DataNoticeEventDataTask(Model):
    """For the code no-task: the body for POST /tasks that makes the task"""

    goal: str
    """The request without its time"""
    schedule: Schedule
    words: str
    """The schedule in words"""
    zone: str
    """The time zone of its local times"""
    next: list[int]
    """The next planned times"""


class DigestTasksItemsItem(Model):
    """Part of a larger object of the service: DigestTasksItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    runs: DigestRuns
    """Runs that failed, were stopped, or found or changed something; newest first"""
    nothing_to_do: int
    """The number of runs that completed and had nothing to do"""
    denied: list[DigestTasksItemsItemDeniedItem]
    """Calls that were denied because no grant covers them, each once"""
    passed: list[DigestTasksItemsItemPassedItem]
    """Planned times without a run, one entry for each reason"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""


class DigestChatsItemsItem(Model):
    """Part of a larger object of the service: DigestChatsItemsItem."""

    thread_id: str
    title: str
    run_id: str
    """Its newest run; the next fields are of this run"""
    status: RunState
    started_at: int
    """Milliseconds since the Unix epoch"""
    completed_at: int
    """Milliseconds since the Unix epoch"""
    runs: int
    """The number of its runs that have ended since then"""
    unasked: list[DigestUnasked]
    """Calls that ran without asking, and why they could"""
    output: str | None = None
    """The answer, shortened"""
    error: str | None = None
    """Why the run did not complete, shortened"""
    stopped: str | None = None
    """Why the run was stopped short, shortened"""
    facts: str | None = None
    """What the run did by its recorded calls, written by code: calls by effect, files, commands
    with their exit codes, external calls. One line in English
    """
    verified: bool | None = None
    """false: what the report claims could not all be checked, no effect is claimed although calls
    had effects or the plan expects one, or the effect that the plan expects is missing; the score
    is then 0.6 at most. Absent otherwise
    """
    evidence: Annotated[Literal[
        "confirmed",
        "contradicted",
        "unchecked",
        "not_needed",
    ], AnyText] | None = None
    """All claims together; not_needed: the report claims no effect"""
    claims: list[CheckedClaim] | None = None
    """The first claims of the answer"""


class DigestNotRunItemsItem(Model):
    """Part of a larger object of the service: DigestNotRunItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    slot: Slot
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""


class DigestFiredItemsItem(Model):
    """Part of a larger object of the service: DigestFiredItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    firing: Firing
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""


class DigestWaitingItemsItem(Model):
    """Part of a larger object of the service: DigestWaitingItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    run_id: str
    approval_id: str
    """For POST /approvals/:id"""
    kind: Annotated[Literal["tool", "result", "question"], AnyText]
    about: str
    """What the tool call is about, the result that needs approval, or the questions, shortened"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    expires_at: int
    """Milliseconds since the Unix epoch"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""
    tool_name: str | None = None
    """The tool whose call needs approval"""
    cwd: str | None = None
    """Real path of the working directory of the tool call"""
    reason: str | None = None
    """Why the approval is requested again, or what differs from the approved runs"""


class DigestWaitingForAppItemsItem(Model):
    """Part of a larger object of the service: DigestWaitingForAppItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    run_id: str
    tool_call_id: str
    """For POST /tool-calls/:id"""
    tool_name: str
    about: str
    """What the call is about, shortened: a path, a command, host and path of an address, or the
    first fields of its input
    """
    is_claimed: bool
    """Whether an instance of the application executes the call"""
    created_at: int
    """Milliseconds since the Unix epoch"""
    expires_at: int
    """Milliseconds since the Unix epoch"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""
    app: str | None = None
    """The application whose tool it is, by the name that it gave itself"""


class DigestWorkingItemsItem(Model):
    """Part of a larger object of the service: DigestWorkingItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    run_id: str
    run_number: int
    trigger: RunTrigger
    status: RunState
    started_at: int
    """Milliseconds since the Unix epoch"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""


class DigestFailingItemsItem(Model):
    """Part of a larger object of the service: DigestFailingItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    failures: int
    """Runs that failed in a row"""
    since: int
    """Milliseconds since the Unix epoch"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""
    next_try_at: int | None = None
    """Milliseconds since the Unix epoch"""
    error: str | None = None
    """The error of the last run, shortened"""


class DigestNextItemsItem(Model):
    """Part of a larger object of the service: DigestNextItemsItem."""

    task_id: str
    name: str
    """The name of the task"""
    goal: str
    """The goal of the task, shortened"""
    at: int
    """Milliseconds since the Unix epoch"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""


class ModelListModelsItemPricing(Model):
    """Prices in US dollars per token"""

    input: str | None = None
    output: str | None = None
    cached_input: str | None = None
    """A token that is read from the cache"""
    cache_write: str | None = None
    """A token that is written to the cache"""


class ModelResponseOutputItem1ContentItem1(Model):
    """Part of a larger object of the service: ModelResponseOutputItem1ContentItem1."""

    text: str
    annotations: list[dict[str, Any]]
    logprobs: list[dict[str, Any]]
    type: Literal["output_text"] = "output_text"


class ModelResponseOutputItem1ContentItem2(Model):
    """Part of a larger object of the service: ModelResponseOutputItem1ContentItem2."""

    refusal: str
    type: Literal["refusal"] = "refusal"


class ModelResponseOutputItem3SummaryItem(Model):
    """Part of a larger object of the service: ModelResponseOutputItem3SummaryItem."""

    text: str
    type: Literal["summary_text"] = "summary_text"


class ModelResponseUsageInputTokensDetails(Model):
    """Part of a larger object of the service: ModelResponseUsageInputTokensDetails."""

    cached_tokens: int = Field(validation_alias="cached_tokens", serialization_alias="cached_tokens")
    cache_write_tokens: int = Field(validation_alias="cache_write_tokens", serialization_alias="cache_write_tokens")


class ModelResponseUsageOutputTokensDetails(Model):
    """Part of a larger object of the service: ModelResponseUsageOutputTokensDetails."""

    reasoning_tokens: int = Field(validation_alias="reasoning_tokens", serialization_alias="reasoning_tokens")


class ReasoningStartEventProviderMetadataAgent(Model):
    """Part of a larger object of the service: ReasoningStartEventProviderMetadataAgent."""

    phase: Literal["analysis"] = "analysis"


class ResponseBodyInput2ItemContent2Item(Model):
    """Part of a larger object of the service: ResponseBodyInput2ItemContent2Item."""

    type: str


class ResponseBodyInput2ItemOutput2Item(Model):
    """Part of a larger object of the service: ResponseBodyInput2ItemOutput2Item."""

    type: str


class ResponseBodyToolChoiceToolsItem(Model):
    """Part of a larger object of the service: ResponseBodyToolChoiceToolsItem."""

    type: str
    name: str | None = None


class ResponseBodyTextFormat(Model):
    """Part of a larger object of the service: ResponseBodyTextFormat."""

    type: Annotated[Literal["text", "json_object", "json_schema"], AnyText]
    schema_: dict[str, Any] | None = None


class TaskApprovalHistoryItemDevice(Model):
    """The paired device that decided"""

    device_id: str
    name: str
    """The name that the person gave it"""


class ChatCompletionChoicesItemMessageToolCallsItem(Model):
    """Part of a larger object of the service: ChatCompletionChoicesItemMessageToolCallsItem."""

    id: str
    function: ChatFunctionCall
    type: Literal["function"] = "function"


class ChatCompletionBodyMessagesItemToolCallsItemFunction(Model):
    """Part of a larger object of the service: ChatCompletionBodyMessagesItemToolCallsItemFunction.
    """

    name: str
    arguments: str


class ChatCompletionBodyToolChoiceAllowedToolsToolsItem(Model):
    """Part of a larger object of the service: ChatCompletionBodyToolChoiceAllowedToolsToolsItem."""

    type: str
    function: ChatCompletionBodyToolChoiceAllowedToolsToolsItemFunction | None = None


class ChatCompletionChunkChoicesItemDeltaToolCallsItem(Model):
    """Part of a larger object of the service: ChatCompletionChunkChoicesItemDeltaToolCallsItem."""

    index: int
    id: str
    function: ChatFunctionCall
    type: Literal["function"] = "function"


class ConfigPatchModelsSettingsCapable(Model):
    """Part of a larger object of the service: ConfigPatchModelsSettingsCapable."""

    effort: Annotated[Literal[
        "provider-default",
        "none",
        "minimal",
        "low",
        "medium",
        "high",
        "xhigh",
        "max",
    ], AnyText] | None = None
    """How much the model reasons before it answers. Providers take the nearest effort that their
    model has
    """
    max_output_tokens: int | None = None
    """The greatest length of the answer of one model call, in tokens; providers count reasoning,
    too
    """


class ConfigPatchModelsSettingsFast(Model):
    """Part of a larger object of the service: ConfigPatchModelsSettingsFast."""

    max_output_tokens: int | None = None
    """The greatest length of the answer of one model call, in tokens; providers count reasoning,
    too
    """


class ConfigPatchModelsSettingsVision(Model):
    """Part of a larger object of the service: ConfigPatchModelsSettingsVision."""

    effort: Annotated[Literal[
        "provider-default",
        "none",
        "minimal",
        "low",
        "medium",
        "high",
        "xhigh",
        "max",
    ], AnyText] | None = None
    """How much the model reasons before it answers. Providers take the nearest effort that their
    model has
    """
    max_output_tokens: int | None = None
    """The greatest length of the answer of one model call, in tokens; providers count reasoning,
    too
    """


class ConfigPatchOfflineScriptItemToolCallsItem(Model):
    """Part of a larger object of the service: ConfigPatchOfflineScriptItemToolCallsItem."""

    tool_name: str
    input: Any


class DigestTasksItemsItemDeniedItem(Model):
    """Part of a larger object of the service: DigestTasksItemsItemDeniedItem."""

    run_id: str
    """The newest run in which it was denied"""
    tool_name: str
    about: str
    """What the call is about, shortened: a path, a command, host and path of an address, or the
    first fields of its input
    """
    count: int
    """The number of such calls"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""
    grant: GrantBody | None = None
    covers: str | None = None
    """What that grant would cover, in words"""
    is_granted: bool | None = None
    """Whether a grant that was given since covers the call"""


class DigestTasksItemsItemPassedItem(Model):
    """Part of a larger object of the service: DigestTasksItemsItemPassedItem."""

    fate: Annotated[Literal["run", "coalesced", "skipped", "missed"], AnyText]
    """run: the planned time became the run `runId`; coalesced: the run planned for `into` replaced
    it; skipped: left out on purpose (`reason`); missed: too old for a catch-up run
    """
    count: int
    """The number of planned times"""
    from_: int
    """Milliseconds since the Unix epoch"""
    at: int
    """The last of these times. Milliseconds since the Unix epoch"""
    text: str
    """The item as a sentence, with times in the local time zone of the machine"""
    reason: str | None = None
    """Why the planned time was skipped: overlap (a run was active), waiting (a run waited for a
    person, since `since`; all such times in a row are one entry), late (the schedule has missed:
    skip), paused (the task was paused), failing (the task is failing, and is tried less often),
    budget (the tasks had used up their budget of the day), changed or cancelled (the task was
    changed or cancelled at that moment), ended (the end time of the task came)
    """


class ChatCompletionBodyToolChoiceAllowedToolsToolsItemFunction(Model):
    """Part of a larger object of the service:
    ChatCompletionBodyToolChoiceAllowedToolsToolsItemFunction.
    """

    name: str


Answers = dict[str, str | list[str]]


ConfigView = dict[str, Any]


ConnectBody = ConnectProgram | ConnectAddress


RunStreamEvent = Union[
    StartEvent,
    ReasoningStartEvent,
    ReasoningDeltaEvent,
    ReasoningEndEvent,
    StepBoundaryEvent,
    StartStepEvent,
    FinishStepEvent,
    TextStartEvent,
    TextDeltaEvent,
    TextEndEvent,
    ToolInputStartEvent,
    ToolInputDeltaEvent,
    ToolInputAvailableEvent,
    ToolInputErrorEvent,
    ToolOutputAvailableEvent,
    ToolProgressEvent,
    ToolOutputErrorEvent,
    ToolOutputDeniedEvent,
    ToolApprovalRequestEvent,
    QuestionRequestEvent,
    QuestionClosedEvent,
    ToolCallRequestEvent,
    DataTaskEvent,
    DataObjectEvent,
    DataRevisionEvent,
    DataPlanEvent,
    DataCompactionEvent,
    DataRetryEvent,
    DataWaitingEvent,
    DataNoticeEvent,
    DataSteerEvent,
    DataStoppedEvent,
    ErrorEvent,
    AbortEvent,
    FinishEvent,
]

RUN_STREAM_EVENTS: dict[str, type[Model]] = {
    "start": StartEvent,
    "reasoning-start": ReasoningStartEvent,
    "reasoning-delta": ReasoningDeltaEvent,
    "reasoning-end": ReasoningEndEvent,
    "step-boundary": StepBoundaryEvent,
    "start-step": StartStepEvent,
    "finish-step": FinishStepEvent,
    "text-start": TextStartEvent,
    "text-delta": TextDeltaEvent,
    "text-end": TextEndEvent,
    "tool-input-start": ToolInputStartEvent,
    "tool-input-delta": ToolInputDeltaEvent,
    "tool-input-available": ToolInputAvailableEvent,
    "tool-input-error": ToolInputErrorEvent,
    "tool-output-available": ToolOutputAvailableEvent,
    "tool-progress": ToolProgressEvent,
    "tool-output-error": ToolOutputErrorEvent,
    "tool-output-denied": ToolOutputDeniedEvent,
    "tool-approval-request": ToolApprovalRequestEvent,
    "question-request": QuestionRequestEvent,
    "question-closed": QuestionClosedEvent,
    "tool-call-request": ToolCallRequestEvent,
    "data-task": DataTaskEvent,
    "data-object": DataObjectEvent,
    "data-revision": DataRevisionEvent,
    "data-plan": DataPlanEvent,
    "data-compaction": DataCompactionEvent,
    "data-retry": DataRetryEvent,
    "data-waiting": DataWaitingEvent,
    "data-notice": DataNoticeEvent,
    "data-steer": DataSteerEvent,
    "data-stopped": DataStoppedEvent,
    "error": ErrorEvent,
    "abort": AbortEvent,
    "finish": FinishEvent,
}
"""The classes of RunStreamEvent by their types."""


SchedulePreview = UnderstoodSchedule | UnclearSchedule


StreamEvent = Union[
    TaskStartEvent,
    TaskPhaseEvent,
    TaskToolStartEvent,
    TaskToolEvent,
    TaskEvalEvent,
    TaskApprovalEvent,
    TaskToolCallEvent,
    TaskCompleteEvent,
    TaskErrorEvent,
    TaskRetryEvent,
    TaskSteerEvent,
    TaskHealthEvent,
    TaskStatusEvent,
    TaskChangeEvent,
    RunStartEvent,
    RunEndEvent,
    ApprovalOpenEvent,
    ApprovalClosedEvent,
    ToolCallOpenEvent,
    ToolCallClosedEvent,
    NotificationEvent,
    NotificationClosedEvent,
    ThreadChangedEvent,
    ThreadDeletedEvent,
    MemoryChangedEvent,
    AgentChangedEvent,
    ConfigChangedEvent,
    ResetEvent,
    ShutdownEvent,
]

STREAM_EVENTS: dict[str, type[Model]] = {
    "task:start": TaskStartEvent,
    "task:phase": TaskPhaseEvent,
    "task:tool-start": TaskToolStartEvent,
    "task:tool": TaskToolEvent,
    "task:eval": TaskEvalEvent,
    "task:approval": TaskApprovalEvent,
    "task:tool-call": TaskToolCallEvent,
    "task:complete": TaskCompleteEvent,
    "task:error": TaskErrorEvent,
    "task:retry": TaskRetryEvent,
    "task:steer": TaskSteerEvent,
    "task:health": TaskHealthEvent,
    "task:status": TaskStatusEvent,
    "task:change": TaskChangeEvent,
    "run:start": RunStartEvent,
    "run:end": RunEndEvent,
    "approval:open": ApprovalOpenEvent,
    "approval:closed": ApprovalClosedEvent,
    "tool-call:open": ToolCallOpenEvent,
    "tool-call:closed": ToolCallClosedEvent,
    "notification": NotificationEvent,
    "notification:closed": NotificationClosedEvent,
    "thread:changed": ThreadChangedEvent,
    "thread:deleted": ThreadDeletedEvent,
    "memory:changed": MemoryChangedEvent,
    "agent:changed": AgentChangedEvent,
    "config:changed": ConfigChangedEvent,
    "reset": ResetEvent,
    "service:shutdown": ShutdownEvent,
}
"""The classes of StreamEvent by their types."""


TaskStreamEvent = Union[
    TaskStartEvent,
    TaskPhaseEvent,
    TaskToolStartEvent,
    TaskToolEvent,
    TaskEvalEvent,
    TaskApprovalEvent,
    TaskToolCallEvent,
    TaskCompleteEvent,
    TaskErrorEvent,
    TaskRetryEvent,
    TaskSteerEvent,
    TaskHealthEvent,
    TaskStatusEvent,
    TaskChangeEvent,
]

TASK_STREAM_EVENTS: dict[str, type[Model]] = {
    "task:start": TaskStartEvent,
    "task:phase": TaskPhaseEvent,
    "task:tool-start": TaskToolStartEvent,
    "task:tool": TaskToolEvent,
    "task:eval": TaskEvalEvent,
    "task:approval": TaskApprovalEvent,
    "task:tool-call": TaskToolCallEvent,
    "task:complete": TaskCompleteEvent,
    "task:error": TaskErrorEvent,
    "task:retry": TaskRetryEvent,
    "task:steer": TaskSteerEvent,
    "task:health": TaskHealthEvent,
    "task:status": TaskStatusEvent,
    "task:change": TaskChangeEvent,
}
"""The classes of TaskStreamEvent by their types."""


Trigger = FilesTrigger | TaskTrigger
