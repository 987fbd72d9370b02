// A chat with approvals for React, based on the AI SDK's useChat hook (@ai-sdk/react 3 and 4, ai 6 and 7):
//
//   npm install ai @ai-sdk/react react
//
// React is no dependency of this project, so the type check excludes this file. The origin of the page must be the
// service's own, that of a Tauri shell, or listed in allowedOrigins of config.json.
import { useState, type FormEvent } from 'react'
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, getToolName, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'

const RUN = 'http://127.0.0.1:3001/run'

const transport = new DefaultChatTransport({
  // Decisions on approvals are posted here, too; the service distinguishes them from new messages.
  api: RUN,
  // With LOCAL_AGENT_TOKEN: headers: { authorization: `Bearer ${token}` },
  // A resumable run continues when the page is reloaded.
  body: { resumable: true, context: { cwd: '/home/ada/work' } }
})

/** Renders a conversation. The service stores its thread under `id`. */
export function Chat ({ id }: { id: string }) {
  const [text, setText] = useState('')
  const { messages, sendMessage, addToolApprovalResponse, status, stop, error } = useChat({
    id,
    transport,
    // Reads the run that was active when the page was closed: GET /run/{id}/stream.
    resume: true,
    // Continues automatically when all approval requests of a step are decided.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses
  })

  function submit (event: FormEvent) {
    event.preventDefault()
    sendMessage({ text })
    setText('')
  }

  /** Stops the run on the service, because a resumable run continues when only its reader stops. */
  function end () {
    stop()
    fetch(`${RUN}/${encodeURIComponent(id)}/stop`, { method: 'POST' }).catch(() => {})
  }

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id}>
          {message.parts.map((part, at) => {
            if (part.type === 'text') return <p key={at}>{part.text}</p>
            if (part.type === 'reasoning') {
              return (
                <p key={at}>
                  <em>{part.text}</em>
                </p>
              )
            }
            if (!isToolUIPart(part)) return null
            if (part.state !== 'approval-requested') return <p key={at}>{getToolName(part)}: {part.state}</p>
            const answer = (approved: boolean) => addToolApprovalResponse({ id: part.approval.id, approved })
            return (
              <fieldset key={at}>
                <legend>May it use {getToolName(part)}?</legend>
                <pre>{JSON.stringify(part.input, undefined, 2)}</pre>
                <button onClick={() => answer(true)}>Allow</button>
                <button onClick={() => answer(false)}>Deny</button>
              </fieldset>
            )
          })}
        </article>
      ))}
      {error && <p role='alert'>{error.message}</p>}
      <form onSubmit={submit}>
        <input value={text} onChange={(event) => setText(event.target.value)} />
        {status === 'ready' ? <button>Send</button> : <button type='button' onClick={end}>Stop</button>}
      </form>
    </main>
  )
}
