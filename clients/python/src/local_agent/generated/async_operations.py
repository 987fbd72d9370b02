"""A method for each operation of the service. Made of openapi.json by `npm run openapi`: do not edit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

from .._model import UnknownEvent
from .._async.transport import AsyncTransport
from ..models import (
    RUN_STREAM_EVENTS,
    TASK_STREAM_EVENTS,
    STREAM_EVENTS,
    About,
    AcceptedSheet,
    AgentBody,
    AgentDeleted,
    AgentList,
    AnsweredToolCall,
    AppliedChanges,
    ApplyBody,
    ApprovalDecision,
    ApprovalKind,
    ApprovalList,
    ApprovalPreview,
    ApproveBody,
    Attachment,
    BrainCleared,
    BrainView,
    BufferAnswer,
    BufferRequests,
    BufferTaken,
    ChatCompletion,
    ChatCompletionBody,
    ChatModel,
    ChatModelList,
    CheckedBackup,
    CommandList,
    CommandStopped,
    ConfigPatch,
    ConfigReloaded,
    ConfigSaved,
    ConfigView,
    ConfigureBody,
    Configured,
    ConnectBody,
    Connected,
    CreateThreadBody,
    DecidedApproval,
    DeviceList,
    Digest,
    DigestSeen,
    DigestSeenBody,
    Disconnected,
    Erased,
    Extraction,
    FactBody,
    FactChange,
    FactChanged,
    FactLearned,
    FactList,
    FactRemoved,
    FiringList,
    Folder,
    FolderPlaces,
    Grant,
    GrantBody,
    GrantList,
    Health,
    ImportProgress,
    ImportServersBody,
    Imported,
    ImportedServers,
    LiveRun,
    ModelList,
    ModelResponse,
    NamedAgent,
    NotificationList,
    NotificationShown,
    NotificationShownBody,
    PreferenceBody,
    PreferenceKey,
    PreferenceSet,
    PreviewScheduleBody,
    PromptList,
    ProviderList,
    ProviderTested,
    Ready,
    RehearsalBegun,
    RehearsalList,
    RemovedDevice,
    RemovedGrant,
    Resource,
    ResourceList,
    ResponseBody,
    Run,
    RunBody,
    RunChanges,
    RunList,
    RunQueued,
    RunResult,
    RunState,
    RunStreamEvent,
    SchedulePreview,
    SearchResults,
    Sheet,
    SheetAnswer,
    Skill,
    SkillList,
    SteerBody,
    SteeredRun,
    StreamEvent,
    Task,
    TaskApproveBody,
    TaskApproved,
    TaskBody,
    TaskChanges,
    TaskDeleted,
    TaskList,
    TaskMemory,
    TaskMemoryBody,
    TaskRun,
    TaskRunBody,
    TaskRunList,
    TaskSchedule,
    TaskStatus,
    TaskSteerBody,
    TaskSteered,
    TaskStreamEvent,
    TaskType,
    TestBody,
    Thread,
    ThreadBody,
    ThreadDeleted,
    ThreadList,
    ThreadView,
    ThreadsDeleted,
    ToolCallAnswer,
    ToolCallList,
    ToolServer,
    ToolServerDetail,
    ToolServerList,
    ToolServerSettings,
    UndoBody,
    Undone,
    UsageReport,
    VersionList,
    VersionView,
)


class AsyncOperations(AsyncTransport):
    """Each operation of the service by its name. A failure is an AgentError."""

    async def about(
        self,
    ) -> About:
        """Describes the service and lists its endpoints; leads a browser to the console. Needs no
        model and no provider. `endpoints` comes from the routes themselves, so it is always
        complete.
        """
        return await self._call(
            "GET",
            "/",
            About,
        )

    async def health(
        self,
    ) -> Health:
        """Returns the health of the service and of its parts. Needs no token, and answers 200 also
        while a part is degraded; `checks` names the part.
        """
        return await self._call(
            "GET",
            "/health",
            Health,
        )

    async def ready(
        self,
    ) -> Ready:
        """Returns whether the service accepts new work. Answers 503 while the service starts and
        while it shuts down. Use `/health` to decide whether the process must be restarted.
        """
        return await self._call(
            "GET",
            "/ready",
            Ready,
        )

    async def get_config(
        self,
    ) -> ConfigView:
        """Returns the current configuration with masked secrets. Keys, tokens and values of `env`
        are masked. The answer is what is in effect, also after a reload that was refused.
        """
        answer: ConfigView = await self._call_any(
            "GET",
            "/config",
            ConfigView,
        )
        return answer

    async def patch_config(
        self,
        body: ConfigPatch | Mapping[str, Any],
    ) -> ConfigSaved:
        """Changes keys of config.json. The change is on disk when it is answered, and in effect but
        for the keys in `restart`. What was edited in the file by hand meanwhile is kept; a file
        that cannot be read is a 409. Keys that decide what the agent may do, whom the service
        trusts, which addresses it calls or which paths it uses are a 403 where the service has no
        token. Those who read `/events` get `config:changed`.
        """
        return await self._call(
            "PATCH",
            "/config",
            ConfigSaved,
            body=body,
        )

    async def reload_config(
        self,
    ) -> ConfigReloaded:
        """Reads config.json again; an invalid file changes nothing. For a change by hand. Only a
        change of the port needs a restart.
        """
        return await self._call(
            "POST",
            "/config/reload",
            ConfigReloaded,
        )

    async def get_openapi(
        self,
    ) -> Any:
        """Returns this OpenAPI document. Clients can be generated from it. Later versions add
        fields, operations and event types, and remove none.
        """
        return await self._call_any(
            "GET",
            "/openapi.json",
            None,
        )

    def run(
        self,
        body: RunBody | Mapping[str, Any],
        *,
        protocol: Literal["documented", "ui", "ui5", "ui7"] | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncIterator[RunStreamEvent | UnknownEvent]:
        """Answers a conversation with a stream of events. The stream is the answer: events arrive
        while the agent works, and the last is `finish`. A tool call that needs approval, a question
        or a call of an application's tool ends the stream with `finishReason` "tool-calls"; the run
        then waits on disk. Without `resumable` a run ends with its reader. Repeat the request only
        with an `Idempotency-Key`: it would start a second run. With `dryRun` the run is rehearsed:
        it has a sheet (`GET /runs/{runId}/sheet`), and the conversation holds nothing of it. With a
        key the run is resumable, and the same request again, within 24 hours, reads the stream of
        the first one: live, or replayed.
        """
        return self._stream(
            "POST",
            "/run",
            RUN_STREAM_EVENTS,
            body=body,
            query={"protocol": protocol},
            headers={"idempotency-key": idempotency_key},
        )

    def approve_run(
        self,
        body: ApproveBody | Mapping[str, Any],
        *,
        protocol: Literal["documented", "ui", "ui5", "ui7"] | None = None,
    ) -> AsyncIterator[RunStreamEvent | UnknownEvent]:
        """Decides approval requests and continues the run that waits for them. For clients that
        hold the conversation: the decisions are the last message. The analysis is not repeated; the
        answer streams the rest of the run. `POST /approvals/{id}` decides without the conversation.
        """
        return self._stream(
            "POST",
            "/run/approve",
            RUN_STREAM_EVENTS,
            body=body,
            query={"protocol": protocol},
        )

    async def run_sync(
        self,
        body: RunBody | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> RunResult:
        """Answers a conversation with one object. The same work as `/run`, answered when the run
        ends or waits. A run that waits is answered too, with what it waits for. A failure is an
        HTTP error with the sentence of the run.
        """
        return await self._call(
            "POST",
            "/run/sync",
            RunResult,
            body=body,
            headers={"idempotency-key": idempotency_key},
        )

    def follow_run(
        self,
        id: str,
        *,
        protocol: Literal["documented", "ui", "ui5", "ui7"] | None = None,
        last_event_id: str | None = None,
    ) -> AsyncIterator[RunStreamEvent | UnknownEvent]:
        """Streams the active run of a conversation, from its first event or behind the last one
        read; 204 when no run is active. For a page that was reloaded, or a second reader. Reading
        does not keep the run alive; a resumable run needs no reader. A chat client (`ui`, `ui5`)
        gets the whole message. A run that a kill of the service cut goes on for a reader that is
        back within a minute of the next start. After that it is replayed as far as it was stored,
        and ends with `error` (code ERR_INTERRUPTED) and `finish`, until the next message of its
        thread; by its own id any run is replayed. A reader that sends the `id:` of the last event
        it has got as Last-Event-ID gets what follows, also of a run that has ended meanwhile, or
        204 if nothing does. After a kill of the service the ids are unknown: the answer begins with
        `start` again.
        """
        return self._stream(
            "GET",
            self._path("/run/{id}/stream", id),
            RUN_STREAM_EVENTS,
            query={"protocol": protocol},
            headers={"last-event-id": last_event_id},
        )

    async def stop_run(
        self,
        id: str,
        *,
        waiting: Literal["withdraw", "keep"] | None = None,
    ) -> LiveRun:
        """Stops the run of a conversation, or ends the one that waits and withdraws what it waits
        for. The run ends with the event `abort`; what it did until then stays.
        """
        return await self._call(
            "POST",
            self._path("/run/{id}/stop", id),
            LiveRun,
            query={"waiting": waiting},
        )

    async def steer_run(
        self,
        id: str,
        body: SteerBody | Mapping[str, Any],
    ) -> SteeredRun:
        """Sends a message to an active run, of a conversation or a task; the model gets it at the
        next step. The message is on disk when this is answered, and a part of the conversation. A
        run that waits reads it when it goes on; a run that is about to end reads it first. If the
        run stops or fails before a step has answered it, it is `unread`: the model gets it with the
        next message, and the thread calls it `read` then. 404 (ERR_NO_LIVE_RUN) when no step
        follows: send it as a message. The same message with the same `id` takes effect once; with
        other words it is refused (409, ERR_STEERING_ID_USED).
        """
        return await self._call(
            "POST",
            self._path("/run/{id}/steer", id),
            SteeredRun,
            body=body,
        )

    async def list_chat_models(
        self,
    ) -> ChatModelList:
        """Lists what `model` of a chat completion can be: agents and models. Errors of the
        operations under `/v1` are in the shape of OpenAI. The token of the service is the API key.
        """
        return await self._call(
            "GET",
            "/v1/models",
            ChatModelList,
        )

    async def get_chat_model(
        self,
        id: str,
    ) -> ChatModel:
        """Returns one of the names of `GET /v1/models`. A model that its provider does not list is
        a 404 here, and can be used if its provider is configured.
        """
        return await self._call(
            "GET",
            self._path("/v1/models/{id}", id),
            ChatModel,
        )

    async def create_chat_completion(
        self,
        body: ChatCompletionBody | Mapping[str, Any],
        *,
        x_stainless_retry_count: str | None = None,
    ) -> ChatCompletion:
        """Answers a conversation as OpenAI's chat completions do. A run as that of `POST /run`
        without `id`: it finds its conversation by the messages. Nobody is asked: what would wait
        for a person is denied at once, and a note at the end of the answer says so. `tools` are
        executed by the caller: a call ends the answer with `tool_calls`, and messages with role
        `tool` go on. The run ends when its client goes away.
        """
        return await self._call(
            "POST",
            "/v1/chat/completions",
            ChatCompletion,
            body=body,
            headers={"x-stainless-retry-count": x_stainless_retry_count},
        )

    async def create_response(
        self,
        body: ResponseBody | Mapping[str, Any],
        *,
        x_stainless_retry_count: str | None = None,
    ) -> ModelResponse:
        """Answers a conversation as OpenAI's responses do, and keeps nothing for the next request.
        Stateless: `input` is the whole conversation, and what names a stored one
        (`previous_response_id`, `conversation`) is refused. Otherwise as a chat completion. The
        events of a stream are in the order of OpenAI.
        """
        return await self._call(
            "POST",
            "/v1/responses",
            ModelResponse,
            body=body,
            headers={"x-stainless-retry-count": x_stainless_retry_count},
        )

    async def list_approvals(
        self,
        *,
        kind: ApprovalKind | None = None,
        state: Literal["open", "decided"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ApprovalList:
        """Lists what waits for a decision, of conversations and of tasks, oldest first. The inbox:
        everything that waits for a person. With `state=decided` what became of requests in the last
        year, with a digest of the input instead of the input.
        """
        return await self._call(
            "GET",
            "/approvals",
            ApprovalList,
            query={"kind": kind, "state": state, "limit": limit, "cursor": cursor},
        )

    async def preview_approval(
        self,
        id: str,
    ) -> ApprovalPreview:
        """Returns what an open tool call would change, with a diff of the file that it writes.
        Nothing is changed, and nothing is read that the tool itself may not read. Tools of servers
        have no preview; commands are tried out by POST.
        """
        return await self._call(
            "GET",
            self._path("/approvals/{id}/preview", id),
            ApprovalPreview,
        )

    async def preview_correction(
        self,
        id: str,
        body: Mapping[str, Any],
    ) -> ApprovalPreview:
        """Returns what an open tool call would change, also with another input; a command is tried
        out. An input is checked as the tool checks it; 400 says what is wrong. Nothing is changed:
        a command runs in the box, without network and over a layer that is thrown away, for 30 s at
        most, and `ran` says how it ended. Ask for it when a person does.
        """
        return await self._call(
            "POST",
            self._path("/approvals/{id}/preview", id),
            ApprovalPreview,
            body=body,
        )

    async def decide_approval(
        self,
        id: str,
        body: ApprovalDecision | Mapping[str, Any],
    ) -> DecidedApproval:
        """Decides an approval request and continues the run that waits for it. Calls, results and
        servers are `approved` or not, questions get `answers`, and a request of kind `task` a
        `choice`. The first decision counts; the same one again is answered as the first was,
        another with 409. The run goes on when the last open item of its step is decided, whichever
        operation decided the others.
        """
        return await self._call(
            "POST",
            self._path("/approvals/{id}", id),
            DecidedApproval,
            body=body,
        )

    async def list_devices(
        self,
    ) -> DeviceList:
        """Lists the devices that were paired to decide approvals, and where they reach the service.
        A device is paired with the code that `local-agent reach` shows. It decides at a port of its
        own, once or not at all.
        """
        return await self._call(
            "GET",
            "/devices",
            DeviceList,
        )

    async def remove_device(
        self,
        id: str,
    ) -> RemovedDevice:
        """Ends the key of a paired device. What it decided stays decided. It can be paired again,
        with a new code.
        """
        return await self._call(
            "DELETE",
            self._path("/devices/{id}", id),
            RemovedDevice,
        )

    async def list_notifications(
        self,
        *,
        state: Literal["open", "closed"] | None = None,
    ) -> NotificationList:
        """Lists the notifications for a person, newest first, with their deliveries to the webhook.
        One for each thing, with a reminder after a day. Read it when a connection to `/events`
        begins, for what is open by then; `needsShowing` says that it is on no screen yet.
        """
        return await self._call(
            "GET",
            "/notifications",
            NotificationList,
            query={"state": state},
        )

    async def show_notification(
        self,
        id: str,
        body: NotificationShownBody | Mapping[str, Any],
    ) -> NotificationShown:
        """Claims a notification before it is shown; the first client that claims it shows it. Say
        so before it is shown, and show it when `first` is true: so one of several pages and shells
        does. What nobody shows within 5 s goes to the webhook of config.json.
        """
        return await self._call(
            "POST",
            self._path("/notifications/{id}", id),
            NotificationShown,
            body=body,
        )

    async def list_tool_calls(
        self,
        *,
        state: Literal["open", "claimed"] | None = None,
        app: str | None = None,
        thread_id: str | None = None,
        task_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ToolCallList:
        """Lists the open calls that applications execute, oldest first. Calls of tools that
        `options.appTools` gave to runs. One that needs approval is listed when it was approved.
        """
        return await self._call(
            "GET",
            "/tool-calls",
            ToolCallList,
            query={"state": state, "app": app, "threadId": thread_id, "taskId": task_id, "limit": limit, "cursor": cursor},
        )

    async def answer_tool_call(
        self,
        id: str,
        body: ToolCallAnswer | Mapping[str, Any],
    ) -> AnsweredToolCall:
        """Claims a call for an instance of the application, renews the claim, or gives the result;
        the run then goes on. A claim lasts 60 s and is renewed by the same claim; one that is not
        makes the call `unknown`, and it is never handed out again. The result is data to the model,
        not instructions. When it was the last open item of its step, the run goes on.
        """
        return await self._call(
            "POST",
            self._path("/tool-calls/{id}", id),
            AnsweredToolCall,
            body=body,
        )

    async def list_commands(
        self,
    ) -> CommandList:
        """Lists the commands that run in the background. What the agent has started with
        `background`, such as servers: of every conversation and run of a task, with the ports that
        can be reached at 127.0.0.1.
        """
        return await self._call(
            "GET",
            "/commands",
            CommandList,
        )

    async def stop_command(
        self,
        id: str,
    ) -> CommandStopped:
        """Ends a command that runs in the background, with all that it started. What it changed in
        its folder is then known and can be undone with its run.
        """
        return await self._call(
            "POST",
            self._path("/commands/{id}/stop", id),
            CommandStopped,
        )

    async def list_skills(
        self,
        *,
        cwd: str | None = None,
    ) -> SkillList:
        """Lists the skills for work in a folder, with their states. Those in `.agents/skills` and
        `.claude/skills` of the folder and in `skills.folders` of config.json; docs/skills.md says
        how they are used. A folder with a SKILL.md that cannot be used is listed with the reason.
        """
        return await self._call(
            "GET",
            "/skills",
            SkillList,
            query={"cwd": cwd},
        )

    async def accept_skill(
        self,
        body: Mapping[str, Any],
    ) -> Skill:
        """Accepts a skill as it is now: it is read without asking until it changes. Look at its
        files first: its text becomes instructions for the agent, also in the runs of tasks, which
        nobody watches. A skill that is not as `digest` says is not accepted (409).
        """
        return await self._call(
            "POST",
            "/skills/accept",
            Skill,
            body=body,
        )

    async def get_folder(
        self,
        *,
        path: str | None = None,
        prefix: str | None = None,
        hidden: bool | None = None,
        cwd: str | None = None,
        limit: int | None = None,
    ) -> Folder:
        """Returns a folder of this computer with the names of the folders in it. For a person who
        looks for a folder: the names of folders, and where links lead; files are neither named nor
        counted. A folder that may not be read or used has a `problem` and no `folders`. Of a large
        one the answer holds the first `limit`, by name, and says how many are left out: `prefix`
        finds them. A drive that does not answer within 10 s is a 504.
        """
        return await self._call(
            "GET",
            "/folders",
            Folder,
            query={"path": path, "prefix": prefix, "hidden": hidden, "cwd": cwd, "limit": limit},
        )

    async def list_folder_places(
        self,
    ) -> FolderPlaces:
        """Returns folders to start from: home, workspace, drives, those of conversations and tasks.
        Folders that are not there any more are left out of `recent`.
        """
        return await self._call(
            "GET",
            "/folders/places",
            FolderPlaces,
        )

    async def list_grants(
        self,
        *,
        thread_id: str | None = None,
        task_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> GrantList:
        """Lists the grants, of a conversation, of a task or of all. Each names what it covers in
        words, and how often it was used.
        """
        return await self._call(
            "GET",
            "/grants",
            GrantList,
            query={"threadId": thread_id, "taskId": task_id, "limit": limit, "cursor": cursor},
        )

    async def add_grant(
        self,
        body: GrantBody | SheetAnswer | Mapping[str, Any],
    ) -> Grant | AcceptedSheet:
        """Lets calls of a tool run unasked in one conversation or task, or accepts lines of the
        sheet of a rehearsal. Nothing wider than the scope that the service would offer for such a
        call can be granted. Commands need a service that was started with a token. `sheet` and
        `lines` accept lines of the sheet of a rehearsal, all or none; the answer is their `grants`.
        """
        answer: Grant | AcceptedSheet = await self._call_any(
            "POST",
            "/grants",
            Grant | AcceptedSheet,
            body=body,
        )
        return answer

    async def remove_grant(
        self,
        id: str,
    ) -> RemovedGrant:
        """Ends a grant. Later calls ask again. A call that already runs is not stopped."""
        return await self._call(
            "DELETE",
            self._path("/grants/{id}", id),
            RemovedGrant,
        )

    async def list_agents(
        self,
    ) -> AgentList:
        """Lists the agents by name. An agent is a set of options under a name. Conversations
        (`settings.agent`), requests and tasks (`options.agent`) name it.
        """
        return await self._call(
            "GET",
            "/agents",
            AgentList,
        )

    async def get_agent(
        self,
        name: str,
    ) -> NamedAgent:
        """Returns an agent. A run that has begun keeps what it was given, and shows it in
        `options`.
        """
        return await self._call(
            "GET",
            self._path("/agents/{name}", name),
            NamedAgent,
        )

    async def put_agent(
        self,
        name: str,
        body: AgentBody | Mapping[str, Any],
    ) -> NamedAgent:
        """Creates an agent, or replaces the one of that name. The options are checked as those of a
        request are. Runs that begin later have them; a body without a field removes it.
        """
        return await self._call(
            "PUT",
            self._path("/agents/{name}", name),
            NamedAgent,
            body=body,
        )

    async def delete_agent(
        self,
        name: str,
    ) -> AgentDeleted:
        """Deletes an agent that no conversation and no task uses. Answers 409 while a conversation
        or a task has it, and names them in `details`. Runs that have begun keep what they have.
        """
        return await self._call(
            "DELETE",
            self._path("/agents/{name}", name),
            AgentDeleted,
        )

    async def add_attachment(
        self,
        body: bytes,
        *,
        x_filename: str | None = None,
    ) -> Attachment:
        """Stores a file that messages can name. The body is the file itself, of any type, at most
        25 MiB. A message names it in a file part; what no message names goes after a day, and the
        rest with the last conversation that names it. The same content is stored once.
        """
        return await self._call(
            "POST",
            "/attachments",
            Attachment,
            body=body,
            headers={"x-filename": x_filename},
        )

    async def get_attachment(
        self,
        digest: str,
    ) -> bytes:
        """Returns the content of a stored file. A download with the name of its first upload.
        Pictures have their media type, all else is application/octet-stream.
        """
        return await self._call_bytes(
            "GET",
            self._path("/attachments/{digest}", digest),
        )

    async def list_threads(
        self,
        *,
        limit: int | None = None,
        search: str | None = None,
        deleted: bool | None = None,
        pinned: bool | None = None,
        cursor: str | None = None,
    ) -> ThreadList:
        """Lists the threads, most recently changed first. Threads are listed without their
        messages. Use `cursor` with `nextCursor` of the previous page.
        """
        return await self._call(
            "GET",
            "/threads",
            ThreadList,
            query={"limit": limit, "search": search, "deleted": deleted, "pinned": pinned, "cursor": cursor},
        )

    async def create_thread(
        self,
        body: CreateThreadBody | Mapping[str, Any],
    ) -> Thread:
        """Creates a thread. Runs create their threads themselves; this operation imports a
        conversation, or names one before its first message.
        """
        return await self._call(
            "POST",
            "/threads",
            Thread,
            body=body,
        )

    async def delete_threads(
        self,
    ) -> ThreadsDeleted:
        """Deletes all threads permanently. Active runs are stopped first. This cannot be undone."""
        return await self._call(
            "DELETE",
            "/threads",
            ThreadsDeleted,
        )

    async def get_thread(
        self,
        id: str,
        *,
        protocol: Literal["documented", "ui", "ui5", "ui7"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ThreadView:
        """Returns a thread with its messages. The newest messages come first by page and in order
        within one; `cursor` reads earlier ones. With `protocol=ui` a chat of the AI SDK can begin
        with them, whichever client wrote them: their ids are those that streams gave.
        """
        return await self._call(
            "GET",
            self._path("/threads/{id}", id),
            ThreadView,
            query={"protocol": protocol, "limit": limit, "cursor": cursor},
        )

    async def put_thread(
        self,
        id: str,
        body: ThreadBody | Mapping[str, Any],
    ) -> Thread:
        """Creates a thread, or replaces the given fields of an existing one. Title, settings and
        metadata may change while a run is active, and settings count from the next run on; messages
        may not. Messages that are absent stay. Messages that were read, with or without `protocol`,
        and are sent back unchanged stay as they are stored; with nothing changed, open approvals
        stay open.
        """
        return await self._call(
            "PUT",
            self._path("/threads/{id}", id),
            Thread,
            body=body,
        )

    async def delete_thread(
        self,
        id: str,
        *,
        restorable: bool | None = None,
    ) -> ThreadDeleted:
        """Deletes a thread with its approvals and runs, and stops its active run. What was learned
        from it stays in the brain and can be erased there.
        """
        return await self._call(
            "DELETE",
            self._path("/threads/{id}", id),
            ThreadDeleted,
            query={"restorable": restorable},
        )

    async def list_versions(
        self,
        id: str,
    ) -> VersionList:
        """Lists the earlier versions of messages that were edited or answered again. A version is
        made when a request to `/run` sends a message of the user in the place of one of the thread,
        or the same one for another answer. At most 20 are kept of a message, 200 of a thread, and 8
        MiB beside the newest; they are deleted with it.
        """
        return await self._call(
            "GET",
            self._path("/threads/{id}/versions", id),
            VersionList,
        )

    async def get_version(
        self,
        id: str,
        version_id: str,
        *,
        protocol: Literal["documented", "ui", "ui5", "ui7"] | None = None,
    ) -> VersionView:
        """Returns an earlier version of a message, with all that came after it. The first message
        is what the user said; its answer and all that followed come after it.
        """
        return await self._call(
            "GET",
            self._path("/threads/{id}/versions/{versionId}", id, version_id),
            VersionView,
            query={"protocol": protocol},
        )

    async def restore_version(
        self,
        id: str,
        version_id: str,
    ) -> Thread:
        """Takes a thread back to an earlier version of a message. Nothing is lost: what the thread
        has in that place becomes an earlier version itself. No model is called. What waits for a
        person in the conversation is withdrawn; while a run is under way, it is a 409. Readers of
        `/events` get `thread:changed`.
        """
        return await self._call(
            "POST",
            self._path("/threads/{id}/versions/{versionId}/restore", id, version_id),
            Thread,
        )

    async def extract_facts(
        self,
        id: str,
    ) -> Extraction:
        """Extracts facts and preferences from the statements of the user in a thread. The service
        does this itself when a thread has been idle. What is found is proposed or stored as the
        settings say.
        """
        return await self._call(
            "POST",
            self._path("/threads/{id}/extract", id),
            Extraction,
        )

    async def list_buffer_requests(
        self,
        id: str,
        *,
        editor: str,
        wait_ms: int | None = None,
    ) -> BufferRequests:
        """Returns the files whose texts an editor is asked for, while the agent reads or changes
        them. For editors in which the user works on the files of the conversation. Ask again at
        once after each answer, with `waitMs`, while the agent may work: an editor counts as open
        until two seconds after its last request. Each request is for a file that the agent reads or
        is about to change. What the editor shows is read in its place, and a file with changes that
        are not saved is not changed.
        """
        return await self._call(
            "GET",
            self._path("/threads/{id}/buffers", id),
            BufferRequests,
            query={"editor": editor, "waitMs": wait_ms},
        )

    async def answer_buffer_request(
        self,
        id: str,
        request_id: str,
        body: BufferAnswer | Mapping[str, Any],
    ) -> BufferTaken:
        """Answers with the text of a file as an editor shows it. Within two seconds; then the file
        counts as saved.
        """
        return await self._call(
            "POST",
            self._path("/threads/{id}/buffers/{requestId}", id, request_id),
            BufferTaken,
            body=body,
        )

    async def search_threads(
        self,
        *,
        q: str,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SearchResults:
        """Searches the texts and titles of all threads, the most recently changed first. Every text
        that was said is searched, also one of a moment ago; reasoning, tools and files are not. A
        page takes less than a second: it may be short, or empty, while `nextCursor` leads on.
        """
        return await self._call(
            "GET",
            "/search",
            SearchResults,
            query={"q": q, "limit": limit, "cursor": cursor},
        )

    def task_events(
        self,
    ) -> AsyncIterator[TaskStreamEvent | UnknownEvent]:
        """Streams the events of all tasks. Never ends by itself and replays nothing: read `GET
        /tasks` first for the state. `/events` has ids and can be resumed.
        """
        return self._stream(
            "GET",
            "/tasks/events",
            TASK_STREAM_EVENTS,
        )

    async def task_digest(
        self,
        *,
        since: int | None = None,
        client: str | None = None,
        limit: int | None = None,
    ) -> Digest:
        """Summarises what tasks did since a given time, what they wait for and what is planned
        next. Meant for a summary at the start of the day: what ended, what failed, what waits and
        what comes next.
        """
        return await self._call(
            "GET",
            "/tasks/digest",
            Digest,
            query={"since": since, "client": client, "limit": limit},
        )

    async def see_task_digest(
        self,
        body: DigestSeenBody | Mapping[str, Any],
    ) -> DigestSeen:
        """Stores how far a reader has seen the digest; its next digest begins there. One place for
        each reader, whichever device it is on. It never goes back, so that a stale page hides
        nothing.
        """
        return await self._call(
            "POST",
            "/tasks/digest/seen",
            DigestSeen,
            body=body,
        )

    async def list_tasks(
        self,
        *,
        status: TaskStatus | None = None,
        type: TaskType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> TaskList:
        """Lists tasks, newest first. Use `status` and `type` to select, and `cursor` with
        `nextCursor` of the previous page.
        """
        return await self._call(
            "GET",
            "/tasks",
            TaskList,
            query={"status": status, "type": type, "limit": limit, "cursor": cursor},
        )

    async def create_task(
        self,
        body: TaskBody | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> Task:
        """Creates a task and its plan. The plan is written by the model unless the body has one.
        The task does nothing before it is started; `start: true` starts it at once. A repeated
        `Idempotency-Key` gets the first answer.
        """
        return await self._call(
            "POST",
            "/tasks",
            Task,
            body=body,
            headers={"idempotency-key": idempotency_key},
        )

    async def preview_schedule(
        self,
        body: PreviewScheduleBody | Mapping[str, Any],
    ) -> SchedulePreview:
        """Says what a schedule, or a time in words, means, and when it would run. Nothing is stored
        or run. The same texts are understood by `schedule.interval` and in conversations; times are
        those of a task that is started now.
        """
        answer: SchedulePreview = await self._call_any(
            "POST",
            "/schedules/preview",
            SchedulePreview,
            body=body,
        )
        return answer

    async def get_task(
        self,
        id: str,
    ) -> Task:
        """Returns a task. The whole state: goal, plan, schedule, memory, comments and history of
        approvals.
        """
        return await self._call(
            "GET",
            self._path("/tasks/{id}", id),
            Task,
        )

    async def update_task(
        self,
        id: str,
        body: TaskChanges | Mapping[str, Any],
    ) -> Task:
        """Changes the goal, plan, schedule or other settings of a task. Only the given fields
        change. A changed goal or plan ends the grants of the task.
        """
        return await self._call(
            "PUT",
            self._path("/tasks/{id}", id),
            Task,
            body=body,
        )

    async def delete_task(
        self,
        id: str,
    ) -> TaskDeleted:
        """Stops a task and deletes it with its runs. Its runs, approvals and grants go with it.
        This cannot be undone.
        """
        return await self._call(
            "DELETE",
            self._path("/tasks/{id}", id),
            TaskDeleted,
        )

    async def get_task_memory(
        self,
        id: str,
    ) -> TaskMemory:
        """Returns what the runs of a task have learned. Findings, decisions, sources and files of
        earlier runs, and what the user said of them. Later runs are told of it.
        """
        return await self._call(
            "GET",
            self._path("/tasks/{id}/memory", id),
            TaskMemory,
        )

    async def replace_task_memory(
        self,
        id: str,
        body: TaskMemoryBody | Mapping[str, Any],
    ) -> TaskMemory:
        """Changes what later runs of a task are told of earlier ones. The lists that are given take
        the place of those of the memory; the feedback of the user stays.
        """
        return await self._call(
            "PUT",
            self._path("/tasks/{id}/memory", id),
            TaskMemory,
            body=body,
        )

    async def clear_task_memory(
        self,
        id: str,
    ) -> TaskMemory:
        """Forgets what the runs of a task have learned. Also the feedback of the user. It cannot be
        undone; the runs stay, with their reports.
        """
        return await self._call(
            "DELETE",
            self._path("/tasks/{id}/memory", id),
            TaskMemory,
        )

    async def start_task(
        self,
        id: str,
    ) -> Task:
        """Starts a task that is planned or has ended. A task with a schedule waits for its next
        time; one without begins to run. `schedule.in` is counted from here; a `once` in the past is
        a 400.
        """
        return await self._call(
            "POST",
            self._path("/tasks/{id}/start", id),
            Task,
        )

    async def pause_task(
        self,
        id: str,
    ) -> Task:
        """Pauses a task and stops its run. The run that is under way is stopped and recorded; the
        schedule rests.
        """
        return await self._call(
            "POST",
            self._path("/tasks/{id}/pause", id),
            Task,
        )

    async def resume_task(
        self,
        id: str,
    ) -> Task:
        """Resumes a paused task. A task with a schedule waits for its next time again."""
        return await self._call(
            "POST",
            self._path("/tasks/{id}/resume", id),
            Task,
        )

    async def cancel_task(
        self,
        id: str,
    ) -> Task:
        """Cancels a task and its run. The task stays, with its runs, and can be started again."""
        return await self._call(
            "POST",
            self._path("/tasks/{id}/cancel", id),
            Task,
        )

    async def run_task(
        self,
        id: str,
        body: TaskRunBody | Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> RunQueued:
        """Queues a run of a task now, independently of its schedule. Also for a task without a
        schedule; the single time of a one_shot is then used up. `input` is for this run alone: its
        model gets it as data, not as instructions, and `GET /tasks/{id}/runs/{runId}` shows it.
        Without `input`, a run that waits for its model provider goes on at once, and the newest run
        that was ended because of it goes on from its last step. A repeated `Idempotency-Key` gets
        the first answer.
        """
        return await self._call(
            "POST",
            self._path("/tasks/{id}/run", id),
            RunQueued,
            body=body,
            headers={"idempotency-key": idempotency_key},
        )

    async def steer_task(
        self,
        id: str,
        body: TaskSteerBody | Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> TaskSteered:
        """Adds a comment that the next run of a task gets. All comments are told to later runs.
        With `runNow` a run is queued at once.
        """
        return await self._call(
            "POST",
            self._path("/tasks/{id}/steer", id),
            TaskSteered,
            body=body,
            headers={"idempotency-key": idempotency_key},
        )

    async def approve_task(
        self,
        id: str,
        body: TaskApproveBody | Mapping[str, Any],
    ) -> TaskApproved:
        """Decides an open question of a run. `notes` are told to later runs. `POST /approvals/{id}`
        does the same by the id of the approval alone.
        """
        return await self._call(
            "POST",
            self._path("/tasks/{id}/approve", id),
            TaskApproved,
            body=body,
        )

    async def list_task_runs(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> TaskRunList:
        """Lists the runs of a task, newest first. Use `cursor` with `nextCursor` of the previous
        page.
        """
        return await self._call(
            "GET",
            self._path("/tasks/{id}/runs", id),
            TaskRunList,
            query={"limit": limit, "cursor": cursor},
        )

    async def get_task_run(
        self,
        id: str,
        run_id: str,
    ) -> TaskRun:
        """Returns a run with all of its tool calls. Also while the run is under way. A restart of
        the service loses nothing of it.
        """
        return await self._call(
            "GET",
            self._path("/tasks/{id}/runs/{runId}", id, run_id),
            TaskRun,
        )

    async def cancel_task_run(
        self,
        id: str,
        run_id: str,
    ) -> TaskRun:
        """Cancels a run. The run ends as cancelled; the task stays as it is."""
        return await self._call(
            "POST",
            self._path("/tasks/{id}/runs/{runId}/cancel", id, run_id),
            TaskRun,
        )

    async def get_task_schedule(
        self,
        id: str,
        *,
        upcoming: int | None = None,
        limit: int | None = None,
        cursor: int | None = None,
    ) -> TaskSchedule:
        """Returns a task's schedule with the next planned times and the outcome of past ones. Times
        are computed in the time zone of the schedule, over changes of daylight saving time.
        """
        return await self._call(
            "GET",
            self._path("/tasks/{id}/schedule", id),
            TaskSchedule,
            query={"upcoming": upcoming, "limit": limit, "cursor": cursor},
        )

    async def list_firings(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> FiringList:
        """Returns the states of the triggers of a task, and their firings with the outcomes, newest
        first. The state of a trigger says why it does not fire, as of a folder with more than
        20,000 files. Use `cursor` with `nextCursor` of the previous page.
        """
        return await self._call(
            "GET",
            self._path("/tasks/{id}/firings", id),
            FiringList,
            query={"limit": limit, "cursor": cursor},
        )

    async def list_runs(
        self,
        *,
        thread_id: str | None = None,
        task_id: str | None = None,
        status: RunState | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> RunList:
        """Lists the runs of conversations and of tasks, newest first. Runs of conversations and of
        tasks in one shape. Inputs and outputs of calls are shortened; a single run has them whole.
        """
        return await self._call(
            "GET",
            "/runs",
            RunList,
            query={"threadId": thread_id, "taskId": task_id, "status": status, "limit": limit, "cursor": cursor},
        )

    async def get_run(
        self,
        run_id: str,
        *,
        wait_ms: int | None = None,
    ) -> Run:
        """Returns a run, of a conversation or a task; with waitMs at its end, or when it waits for
        a person or the application. With `waitMs` the answer comes when the run is over, or waits
        for a person or for the application, or when the time is over.
        """
        return await self._call(
            "GET",
            self._path("/runs/{runId}", run_id),
            Run,
            query={"waitMs": wait_ms},
        )

    async def record_run(
        self,
        run_id: str,
    ) -> bytes:
        """Returns the recording of a run that is over: a file with which the run can be replayed,
        without secrets. Keep the file in the repository of an app: `local-agent test <file>`
        replays it without key or network. docs/recordings.md.
        """
        return await self._call_bytes(
            "POST",
            self._path("/runs/{runId}/recording", run_id),
        )

    async def rehearse_task(
        self,
        id: str,
    ) -> RehearsalBegun:
        """Rehearses a run of a task: on a copy of its folder, without reaching anything else. A run
        in which nobody is asked, with the trigger `rehearsal`; it has no number, and counts in
        usage alone. File tools and commands in the box work on a copy of the folder; any other call
        with an effect is not made, and its model is told so. `GET /runs/{runId}?waitMs=` waits for
        its end, `POST /run/{runId}/stop` ends it, `GET /runs/{runId}/sheet` says what was shown. At
        most two go on at once.
        """
        return await self._call(
            "POST",
            self._path("/tasks/{id}/rehearse", id),
            RehearsalBegun,
        )

    async def list_rehearsals(
        self,
        id: str,
    ) -> RehearsalList:
        """Lists the rehearsals of a task that are kept, newest first. The newest ten are kept."""
        return await self._call(
            "GET",
            self._path("/tasks/{id}/rehearsals", id),
            RehearsalList,
        )

    async def get_sheet(
        self,
        run_id: str,
    ) -> Sheet:
        """Returns what a rehearsal has shown: what the run would do, and what of it may be
        accepted. Of each line one of its `scopes` may be accepted, by `POST /grants {sheet,
        lines}`. Lines with `guess` follow a call whose outcome nobody knows. A changed goal, plan
        or folder makes the sheet void, a changed tool its lines.
        """
        return await self._call(
            "GET",
            self._path("/runs/{runId}/sheet", run_id),
            Sheet,
        )

    async def list_changes(
        self,
        run_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> RunChanges:
        """Lists the files that a run changed, of a conversation or a task, also while it is under
        way. Changes by file tools have their differences; commands are named as not covered. An
        undo has changes of its own.
        """
        return await self._call(
            "GET",
            self._path("/runs/{runId}/changes", run_id),
            RunChanges,
            query={"limit": limit, "cursor": cursor},
        )

    async def undo_run(
        self,
        run_id: str,
        body: UndoBody | Mapping[str, Any] | None = None,
    ) -> Undone:
        """Takes back the changes of a run that is over, as far as its files are still as it left
        them. Files that are no longer as the run left them are not touched, and are named with the
        reason.
        """
        return await self._call(
            "POST",
            self._path("/runs/{runId}/undo", run_id),
            Undone,
            body=body,
        )

    async def apply_run(
        self,
        run_id: str,
        body: ApplyBody | Mapping[str, Any] | None = None,
    ) -> AppliedChanges:
        """Takes over what was changed in the copy of a folder that a run worked on, or throws the
        copy away. For runs with `options.workspace` "copy". What the copy of the conversation has
        by now is made in the folder, of all its runs; `dryRun` lists it. A path that somebody
        changed in the folder after it was copied stays as it is, and is named with the reason,
        unless it is as in the copy. What is replaced can be had back by the `applyId`.
        """
        return await self._call(
            "POST",
            self._path("/runs/{runId}/apply", run_id),
            AppliedChanges,
            body=body,
        )

    def events(
        self,
        *,
        thread_id: str | None = None,
        task_id: str | None = None,
        types: str | None = None,
        after: str | None = None,
        last_event_id: str | None = None,
    ) -> AsyncIterator[StreamEvent | UnknownEvent]:
        """Streams what happens in conversations and tasks, and resumes after the last event that
        the reader has got. `Last-Event-ID`, or `after`, resumes after an event of the last 10,000;
        when it is no longer known, as after a restart, a `reset` comes first: read the lists again.
        With a token, read it by fetch; the client of this package does.
        """
        return self._stream(
            "GET",
            "/events",
            STREAM_EVENTS,
            query={"threadId": thread_id, "taskId": task_id, "types": types, "after": after},
            headers={"last-event-id": last_event_id},
        )

    async def get_brain(
        self,
    ) -> BrainView:
        """Returns the brain, and the part of the system prompt that it gives to every run.
        `contextPreview` is the text that models are told, to the letter.
        """
        return await self._call(
            "GET",
            "/memory/brain",
            BrainView,
        )

    async def clear_brain(
        self,
    ) -> BrainCleared:
        """Deletes all facts, preferences, instructions and patterns permanently, with proposals and
        what was replaced. Cannot be undone. Threads stay as they are.
        """
        return await self._call(
            "DELETE",
            "/memory/brain",
            BrainCleared,
        )

    async def list_facts(
        self,
        *,
        q: str | None = None,
        state: Literal["known", "proposed", "replaced"] | None = None,
        kind: Literal["fact", "preference", "instruction", "pattern"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> FactList:
        """Lists what is remembered, newest first, with the user's words from which it was learned.
        Facts that are known, unless `state` and `kind` ask for proposals, replaced facts,
        preferences, instructions or patterns.
        """
        return await self._call(
            "GET",
            "/memory/brain/facts",
            FactList,
            query={"q": q, "state": state, "kind": kind, "limit": limit, "cursor": cursor},
        )

    async def change_fact(
        self,
        id: str,
        body: FactChange | Mapping[str, Any],
    ) -> FactChanged:
        """Edits, pins, accepts, restores or hides a fact, preference or instruction. What the user
        has edited or pinned is not replaced by what is learned later, unless the user accepts a
        proposal.
        """
        return await self._call(
            "PUT",
            self._path("/memory/brain/facts/{id}", id),
            FactChanged,
            body=body,
        )

    async def delete_fact(
        self,
        id: str,
    ) -> FactRemoved:
        """Erases a fact, preference, instruction or pattern, what it had replaced, and proposals to
        replace it. The same statement is not learned again from the same words.
        """
        return await self._call(
            "DELETE",
            self._path("/memory/brain/facts/{id}", id),
            FactRemoved,
        )

    async def learn_fact(
        self,
        body: FactBody | Mapping[str, Any],
    ) -> FactLearned:
        """Stores a fact; a fact that equals a stored one except for letter case, spacing or final
        punctuation is not added. For facts that the user states in the application itself; nothing
        learned replaces them unasked.
        """
        return await self._call(
            "POST",
            "/memory/brain/fact",
            FactLearned,
            body=body,
        )

    async def forget_fact(
        self,
        body: FactBody | Mapping[str, Any],
    ) -> FactRemoved:
        """Erases the fact that equals the given text, what it had replaced, and proposals to
        replace it. The text must equal the stored fact; 404 says that none does.
        """
        return await self._call(
            "DELETE",
            "/memory/brain/fact",
            FactRemoved,
            body=body,
        )

    async def set_preference(
        self,
        body: PreferenceBody | Mapping[str, Any],
    ) -> PreferenceSet:
        """Sets or overwrites a preference. A value of the same key is overwritten. Runs that begin
        later are told of it.
        """
        return await self._call(
            "POST",
            "/memory/brain/pref",
            PreferenceSet,
            body=body,
        )

    async def delete_preference(
        self,
        body: PreferenceKey | Mapping[str, Any],
    ) -> FactRemoved:
        """Erases a preference, its proposals and its earlier values. The key must equal the stored
        one; 404 says that none does.
        """
        return await self._call(
            "DELETE",
            "/memory/brain/pref",
            FactRemoved,
            body=body,
        )

    async def list_providers(
        self,
    ) -> ProviderList:
        """Lists the providers of models, and the models in use. `configured` says whether a
        provider has what it needs, and not whether it can be reached: `POST /providers/test` does.
        """
        return await self._call(
            "GET",
            "/providers",
            ProviderList,
        )

    async def configure_providers(
        self,
        body: ConfigureBody | Mapping[str, Any],
    ) -> Configured:
        """Sets the model and the keys of providers; the next run uses them. Keys are stored
        encrypted and are never answered; `POST /providers/test` tries one before. A model without a
        key is accepted, with a `warning`.
        """
        return await self._call(
            "POST",
            "/providers/configure",
            Configured,
            body=body,
        )

    async def list_models(
        self,
        *,
        discover: bool | None = None,
    ) -> ModelList:
        """Lists the models of every provider; the lists are cached for five minutes. A provider
        that cannot be asked is named in `errors`; the others are listed all the same.
        """
        return await self._call(
            "GET",
            "/models",
            ModelList,
            query={"discover": discover},
        )

    async def test_provider(
        self,
        body: TestBody | Mapping[str, Any] | None = None,
    ) -> ProviderTested:
        """Makes one small call to a model and returns its result and latency. A model that fails is
        an answer with `ok: false` and a sentence, and no HTTP error. The call costs a few tokens. A
        key in the body is tried and not stored.
        """
        return await self._call(
            "POST",
            "/providers/test",
            ProviderTested,
            body=body,
        )

    async def list_tool_servers(
        self,
    ) -> ToolServerList:
        """Lists the tool servers and their connection states. Servers that are not connected are
        listed with the reason, and are connected again by themselves.
        """
        return await self._call(
            "GET",
            "/mcp/servers",
            ToolServerList,
        )

    async def list_prompts(
        self,
    ) -> PromptList:
        """Lists the prompts of the connected tool servers. For your user to choose from: send the
        chosen one as `prompt` of `POST /run`. A server that is not connected has none in the list,
        and one that does not answer within 5 s is named in `failed`.
        """
        return await self._call(
            "GET",
            "/mcp/prompts",
            PromptList,
        )

    async def list_resources(
        self,
        *,
        server: str | None = None,
    ) -> ResourceList:
        """Lists the resources of the connected tool servers, with the templates of the addresses of
        further ones. For people and applications; the agent has tools for them. A server that does
        not answer within 5 s is named in `failed`.
        """
        return await self._call(
            "GET",
            "/mcp/resources",
            ResourceList,
            query={"server": server},
        )

    async def read_resource(
        self,
        *,
        server: str,
        uri: str,
    ) -> Resource:
        """Returns the content of a resource of a tool server. A server that is not connected, has
        no such resource or does not answer within 30 s is a 502 with the reason.
        """
        return await self._call(
            "GET",
            "/mcp/resources/read",
            Resource,
            query={"server": server, "uri": uri},
        )

    async def get_tool_server(
        self,
        name: str,
    ) -> ToolServerDetail:
        """Returns one tool server with the schemas of its tools, its resources, its prompts and its
        latest stderr output. What the server says of itself is its own text, and not checked.
        """
        return await self._call(
            "GET",
            self._path("/mcp/servers/{name}", name),
            ToolServerDetail,
        )

    async def configure_tool_server(
        self,
        name: str,
        body: ToolServerSettings | Mapping[str, Any],
    ) -> ToolServer:
        """Changes settings of a tool server: whether it is enabled, which of its tools are offered
        and which of them ask. Applied without a restart of the server, but for `enabled`, which
        starts or stops it.
        """
        return await self._call(
            "PUT",
            self._path("/mcp/servers/{name}", name),
            ToolServer,
            body=body,
        )

    async def accept_tool_server(
        self,
        name: str,
        body: Mapping[str, Any],
    ) -> ToolServer:
        """Accepts the tools of a tool server as they are now: those that say that they only read
        run unasked from then on. The tools are pinned as they are now. One that is new, or whose
        description, schema or hints change, asks until it is accepted again. Tools that do not say
        that they only read go on asking. `digest` is that of `GET /mcp/servers/:name` as a person
        was shown it: tools that have changed since are not accepted (409).
        """
        return await self._call(
            "POST",
            self._path("/mcp/servers/{name}/accept", name),
            ToolServer,
            body=body,
        )

    async def take_back_tool_server(
        self,
        name: str,
    ) -> ToolServer:
        """Withdraws the acceptance of the tools of a tool server: all of them ask from then on. The
        server waits for its user in the inbox again, also for tools that were declined. Repeating
        it changes nothing.
        """
        return await self._call(
            "DELETE",
            self._path("/mcp/servers/{name}/accept", name),
            ToolServer,
        )

    async def connect_tool_server(
        self,
        body: ConnectBody | Mapping[str, Any],
    ) -> Connected:
        """Connects a tool server and saves it, so that it is connected at every start; a server of
        the same name is replaced. The program runs as the user of the service. Values of `env` are
        stored encrypted.
        """
        return await self._call(
            "POST",
            "/mcp/connect",
            Connected,
            body=body,
        )

    async def import_tool_servers(
        self,
        body: ImportServersBody | Mapping[str, Any],
    ) -> ImportedServers:
        """Saves the tool servers that a README or the configuration of Claude Desktop, Cursor or VS
        Code names, and connects them. An entry is saved whole or not at all, and all that are saved
        are saved together. Their connections are not awaited: `GET /mcp/servers` tells them. Values
        of `env` and `headers`, and secrets among `args` and in `url`, are stored encrypted.
        """
        return await self._call(
            "POST",
            "/mcp/import",
            ImportedServers,
            body=body,
        )

    async def disconnect_tool_server(
        self,
        name: str,
    ) -> Disconnected:
        """Stops a tool server and deletes it with its environment variables. Its process and the
        children of it are ended. Runs that are under way get an error for its tools.
        """
        return await self._call(
            "DELETE",
            self._path("/mcp/{name}", name),
            Disconnected,
        )

    async def get_usage(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        by: Literal["day", "model", "role", "task", "thread"] | None = None,
    ) -> UsageReport:
        """Returns what model calls used in a range of days, by day, model, role, task or thread.
        Days are those of the time zone of this machine. A model without a known price has tokens
        and no cost.
        """
        return await self._call(
            "GET",
            "/usage",
            UsageReport,
            query={"from": from_, "to": to, "by": by},
        )

    async def export_all(
        self,
        *,
        format: Literal["json"] | None = None,
        x_export_passphrase: str | None = None,
    ) -> bytes:
        """Exports all data of the service as one encrypted file, or as JSON for people to read. The
        passphrase is sent as header `x-export-passphrase`; without it the file cannot be read
        again.
        """
        return await self._call_bytes(
            "GET",
            "/export",
            query={"format": format},
            headers={"x-export-passphrase": x_export_passphrase},
        )

    async def erase_all(
        self,
        body: Mapping[str, Any],
    ) -> Erased:
        """Erases all data of the service; config.json stays. Runs end, and the service restarts
        empty. Nothing can be restored. The store with its keys and copies, the copies for undo and
        the logs are removed; `stays` names what is left. A kill in between is finished at the next
        start. The service restarts in the same process.
        """
        return await self._call(
            "DELETE",
            "/data",
            Erased,
            body=body,
        )

    async def check_import(
        self,
        body: bytes,
        *,
        x_export_passphrase: str,
    ) -> CheckedBackup:
        """Reads a backup as a whole and says what it holds and would replace; changes nothing. For
        a person who decides about an import: the whole file is decrypted and checked, as an import
        does it, and its records are counted beside those of the service. The file is sent again to
        import it. One import or check at a time (409).
        """
        return await self._call(
            "POST",
            "/import/check",
            CheckedBackup,
            body=body,
            headers={"x-export-passphrase": x_export_passphrase},
        )

    async def import_progress(
        self,
    ) -> ImportProgress:
        """Returns how far an import, or the check of a backup, is. Ask each half second while a
        large backup is imported or checked. While the service starts with it, there is no answer.
        """
        return await self._call(
            "GET",
            "/import",
            ImportProgress,
        )

    async def import_all(
        self,
        body: bytes,
        *,
        x_export_passphrase: str,
    ) -> Imported:
        """Replaces all data of the service with a backup. All current data is replaced, after the
        file was checked as a whole. A failure changes nothing. Without a token, the keys of
        config.json that `PATCH /config` refuses then stay as they are: the answer names them in
        `kept`.
        """
        return await self._call(
            "POST",
            "/import",
            Imported,
            body=body,
            headers={"x-export-passphrase": x_export_passphrase},
        )
