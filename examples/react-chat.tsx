// A chat for React with approvals and questions, which has all of its conversation again after a reload, also while the agent
// still answers, shows what other clients wrote in it, and gives the agent a tool of the page. Based on the AI SDK's useChat hook
// (@ai-sdk/react 3 and 4, ai 6 and 7):
//
//   npm install ai @ai-sdk/react react
//
// The origin of the page must be the service's own, that of a Tauri shell, or listed in allowedOrigins of config.json.
import { useEffect, useState, type FormEvent } from 'react'
import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage
} from 'ai'

/** Where the service listens, and its LOCAL_AGENT_TOKEN, if it has one. */
export interface Service {
  url: string
  token?: string
}
interface Question {
  id: string
  text: string
  options?: Array<{ value: string, label: string }>
}

/** What the agent can do in this page. A tool that does more than read is approved first, as the service's own tools are. */
const TOOLS = {
  setTitle: {
    description: 'Sets the title of the page that the user sees',
    inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    effect: 'write',
    execute ({ title }: { title: string }) {
      document.title = title
      return { title }
    }
  }
}
const appTools = Object.entries(TOOLS).map(([name, { execute, ...tool }]) => ({ name, ...tool }))
const isOwn = (name: string): name is keyof typeof TOOLS => Object.hasOwn(TOOLS, name)

const headersOf = ({ token }: Service): Record<string, string> => token === undefined ? {} : { authorization: `Bearer ${token}` }

/** Returns what the service stores of the conversation, as messages of a chat, whichever client wrote them. */
async function load (id: string, service: Service): Promise<UIMessage[]> {
  const response = await fetch(`${service.url}/threads/${encodeURIComponent(id)}?protocol=ui`, { headers: headersOf(service) })
    .catch(() => undefined)
  return response?.ok ? (await response.json()).messages : []
}

/** Renders the conversation that the service stores under `id`; a new one if there is none. */
export function ChatPage ({ id, service }: { id: string, service: Service }) {
  const [messages, setMessages] = useState<UIMessage[]>()
  useEffect(() => void load(id, service).then(setMessages), [id, service])
  return messages === undefined ? <p>Loading…</p> : <Chat key={id} id={id} service={service} stored={messages} />
}

function Chat ({ id, service, stored }: { id: string, service: Service, stored: UIMessage[] }) {
  const [text, setText] = useState('')
  // An answer that is given before the service has said what became of the run would be overwritten by what it says.
  const [isCurrent, setCurrent] = useState(stored.length === 0)
  const { messages, setMessages, sendMessage, addToolApprovalResponse, addToolOutput, status, stop, error } = useChat({
    id,
    messages: stored,
    transport: new DefaultChatTransport({
      // Decisions and answers are posted here, too; the service distinguishes them from new messages.
      api: `${service.url}/run`,
      headers: headersOf(service),
      async fetch (input, init) {
        try {
          const response = await fetch(input, init)
          // No run is active: one that was when the messages were read has ended since, or waits.
          if (response.status === 204) setMessages(await load(id, service))
          return response
        } finally {
          setCurrent(true)
        }
      },
      // A resumable run continues when the page is reloaded; an interactive one may ask questions.
      body: { resumable: true, options: { interactive: true, appTools, app: 'react-chat' } },
      // The service has the conversation: only what is new is sent, also after messages of other clients.
      prepareSendMessagesRequest: ({ id, messages, messageId, trigger, body }) =>
        ({ body: { ...body, id, message: messages.at(-1), messageId, trigger } })
    }),
    // Reads the run that was active when the page was closed: GET /run/{id}/stream.
    resume: stored.length > 0,
    // Comes for each call, when it may be executed: of a tool that is approved first, after the user's yes.
    onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => execute(toolName, toolCallId, input),
    // Continues automatically when all approvals, questions and own calls of a step are answered.
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(chat) || lastAssistantMessageIsCompleteWithToolCalls(chat)
  })

  /** Executes a call of a tool of this page; the service executes all others. */
  function execute (tool: string, toolCallId: string, input: unknown) {
    if (!isOwn(tool)) return
    // Not awaited: the chat adds the output when the stream has ended.
    try {
      void addToolOutput({ tool, toolCallId, output: TOOLS[tool].execute(input as { title: string }) })
    } catch (error) {
      void addToolOutput({ tool, toolCallId, state: 'output-error', errorText: String(error) })
    }
  }

  function submit (event: FormEvent) {
    event.preventDefault()
    sendMessage({ text })
    setText('')
  }

  /** Stops the run on the service, because a resumable run continues when only its reader stops. */
  function end () {
    stop()
    fetch(`${service.url}/run/${encodeURIComponent(id)}/stop`, { method: 'POST', headers: headersOf(service) }).catch(() => {})
  }

  function renderPart (part: UIMessage['parts'][number], at: number) {
    if (part.type === 'text') return <p key={at}>{part.text}</p>
    if (part.type === 'reasoning') return <p key={at}><em>{part.text}</em></p>
    if (!isToolUIPart(part)) return null
    const toolName = getToolName(part)
    if (toolName === 'askUser' && part.state === 'input-available') {
      const answer = (output: object) => addToolOutput({ tool: toolName, toolCallId: part.toolCallId, output })
      return <Questions key={at} questions={(part.input as { questions: Question[] }).questions} answer={answer} />
    }
    // The page was reloaded before it had executed the call.
    if (isOwn(toolName) && part.state === 'input-available' && status === 'ready') {
      return <button key={at} onClick={() => execute(toolName, part.toolCallId, part.input)}>Let it use {toolName}</button>
    }
    if (part.state !== 'approval-requested') return <p key={at}>{toolName}: {part.state}</p>
    const decide = (approved: boolean) => addToolApprovalResponse({ id: part.approval.id, approved })
    return (
      <fieldset key={at}>
        <legend>May it use {toolName}?</legend>
        <pre>{JSON.stringify(part.input, undefined, 2)}</pre>
        <button onClick={() => decide(true)}>Allow</button>
        <button onClick={() => decide(false)}>Deny</button>
      </fieldset>
    )
  }

  return (
    <main>
      <fieldset disabled={!isCurrent}>
        {messages.map((message) => <article key={message.id}>{message.parts.map(renderPart)}</article>)}
      </fieldset>
      {error && <p role='alert'>{error.message}</p>}
      <form onSubmit={submit}>
        <input name='message' value={text} onChange={(event) => setText(event.target.value)} />
        {status === 'ready' || status === 'error' ? <button>Send</button> : <button type='button' onClick={end}>Stop</button>}
      </form>
    </main>
  )
}

/** Asks what the agent wants to know. A question without options is answered by a text. */
function Questions ({ questions, answer }: { questions: Question[], answer: (output: object) => void }) {
  function submit (event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const given = [...new FormData(event.currentTarget)].filter(([, value]) => value !== '')
    answer({ answers: Object.fromEntries(given) })
  }
  return (
    <form onSubmit={submit} aria-label='Questions'>
      {questions.map(({ id, text, options }) => (
        <label key={id}>
          {text}
          {options === undefined
            ? <input name={id} />
            : <select name={id}>{options.map(({ value, label }) => <option key={value} value={value}>{label}</option>)}</select>}
        </label>
      ))}
      <button>Answer</button>
      <button type='button' onClick={() => answer({ declined: true })}>Decline</button>
    </form>
  )
}
