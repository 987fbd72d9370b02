import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { openChat } from '../clients/chat.ts'
import { versions } from '../clients/versions.ts'
import { configOfFile } from './engine.ts'
import { startOnModel } from './service.ts'

/** Chats of each release of the AI SDK with the file as a model: two messages, and another answer to the second one. */
export async function chatsJob (): Promise<void> {
  const service = await startOnModel({ ...configOfFile(), analysis: false, threads: { titles: false } })
  for (const [at, version] of versions.entries()) {
    const id = `chat-${at}`
    const chat = await openChat(service.url, version, { id })
    for (const words of ['Hi!', 'What did I say?']) {
      await chat.say(words)
      console.log(`${version.name}: ${JSON.stringify(words)}: ${JSON.stringify(chat.text.slice(0, 100))}`)
      checkAnswer(chat)
    }
    await chat.andOn(() => chat.chat.regenerate())
    checkAnswer(chat)
    const { messages } = await service.send('GET', `/threads/${id}`)
    const roles = messages.map(({ role }: { role: string }) => role)
    deepStrictEqual(roles, ['user', 'assistant', 'user', 'assistant'], 'the service has the same')
  }
  await service.stop()
}

function checkAnswer ({ errors, last, text, chat }: Awaited<ReturnType<typeof openChat>>): void {
  strictEqual(errors.length, 0, String(errors))
  strictEqual(chat.status, 'ready')
  strictEqual(last.role, 'assistant')
  // It may stop at once, or write nothing but tokens of its template; then the run says so.
  ok(text.trim() !== '' || last.parts.some(({ type }) => type === 'data-stopped' || type === 'data-notice'), JSON.stringify(last.parts))
}
