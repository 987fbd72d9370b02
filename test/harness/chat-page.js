/* global document, location, URLSearchParams, fetch, structuredClone, window */
// A page with a chat of the newest AI SDK, as its framework packages build it: restored from the thread, resumed where its run is.
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'

const service = new URLSearchParams(location.search).get('service')

const parts = (message) =>
  message.parts.map((part) =>
    part.type === 'text' ? part.text : part.type.startsWith('tool-') ? `[${part.type.slice(5)} ${part.state}]` : ''
  )

function show ({ messages, status }) {
  document.body.replaceChildren(
    ...messages.map((message) => Object.assign(document.createElement('article'), { textContent: parts(message).join('') }))
  )
  document.body.dataset.status = status
  for (const part of messages.at(-1)?.parts ?? []) {
    if (part.state !== 'approval-requested') continue
    const approve = Object.assign(document.createElement('button'), { textContent: 'Approve' })
    approve.onclick = () => chat.addToolApprovalResponse({ id: part.approval.id, approved: true })
    document.body.append(approve)
  }
}

/** The state of a chat, shown whenever it changes. */
function shown (messages) {
  const state = {
    messages,
    status: 'ready',
    error: undefined,
    pushMessage: (message) => { state.messages = [...state.messages, message] },
    popMessage: () => { state.messages = state.messages.slice(0, -1) },
    replaceMessage: (at, message) => { state.messages = state.messages.with(at, structuredClone(message)) },
    snapshot: (value) => structuredClone(value)
  }
  return new Proxy(state, {
    set (target, name, value) {
      target[name] = value
      show(target)
      return true
    },
    get: (target, name) => typeof target[name] === 'function' && name !== 'snapshot'
      ? (...args) => { target[name](...args); show(target) }
      : target[name]
  })
}

class Chat extends AbstractChat {}

const response = await fetch(`${service}/threads/chat`)
const state = shown(response.ok ? (await response.json()).messages : [])
const chat = new Chat({
  id: 'chat',
  state,
  transport: new DefaultChatTransport({ api: `${service}/run`, body: { resumable: true } }),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses
})
show(state)
Object.assign(window, { chat })
if (state.messages.length > 0) await chat.resumeStream()
