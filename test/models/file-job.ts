import { execFileSync } from 'node:child_process'
import { ok, strictEqual } from 'node:assert/strict'
import { configOfFile } from './engine.ts'
import { startOnModel } from './service.ts'

/** Returns the ids of the servers that serve the file of this configuration. */
function serversOf ({ engine }: ReturnType<typeof configOfFile>): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes(`${engine} -m `) && row.includes('--api-key-file')).map((row) => Number.parseInt(row, 10))
}

/** The file itself as a model: the service starts its server, starts it once more when it dies, and takes it along when it ends. */
export async function fileJob (): Promise<void> {
  const config = configOfFile()
  strictEqual(serversOf(config).length, 0, 'no server of another run is left')
  const service = await startOnModel(config)
  const { models } = await service.send('GET', '/models')
  const { contextWindow, unavailable } = models.find(({ id }: { id: string }) => id === config.model)
  strictEqual(unavailable, undefined)
  strictEqual(contextWindow, 8_192, 'the window that the file names')
  strictEqual(serversOf(config).length, 0, 'nothing runs before it is used')

  await service.say('Hi!')
  const usage = (await service.say('And you?')).findLast(({ type }) => type === 'finish')!.usage
  console.log(`from the cache: ${usage.cachedInputTokens} of ${usage.inputTokens} tokens`)
  const first = serversOf(config)
  ok(first.length > 0, 'the server stays between two messages')
  for (const pid of first) process.kill(pid, 'SIGKILL')
  await service.say('Still there?')
  ok(serversOf(config).length > 0 && serversOf(config).every((pid) => !first.includes(pid)), 'another one has been started')

  await service.stop()
  strictEqual(serversOf(config).length, 0, 'it ended with the service')
}
