// A chat with approvals for React, on the AI SDK's own hook (@ai-sdk/react 3 and 4, ai 6 and 7):
//
//   npm install ai @ai-sdk/react react
//
// React is no dependency of this project, so its compiler leaves this file out. The page's origin must be the service's
// own, one of a Tauri shell, or named by allowedOrigins in config.json.
import { useState, type FormEvent } from 'react'
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, getToolName, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'

const RUN = 'http://127.0.0.1:3001/run'

const transport = new DefaultChatTransport({
  // Answers to approvals are posted here, too; the service tells them from new messages.
  api: RUN,
  // With LOCAL_AGENT_TOKEN: headers: { authorization: `Bearer ${token}` },
  // A resumable run lives on when the page is reloaded.
  body: { resumable: true, context: { cwd: '/home/ada/work' } }
})

/** `id` is the conversation: the service keeps its thread under it. */
export function Chat ({ id }: { id: string }) {
  const [text, setText] = useState('')
  const { messages, sendMessage, addToolApprovalResponse, status, stop, error } = useChat({
    id,
    transport,
    // Follows the run that was under way when the page was left: GET /run/{id}/stream.
    resume: true,
    // Goes on by itself once everything that was asked in a step is answered.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses
  })

  function submit (event: FormEvent) {
    event.preventDefault()
    sendMessage({ text })
    setText('')
  }

  /** Ends the run itself: a resumable one would only lose its reader. */
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
