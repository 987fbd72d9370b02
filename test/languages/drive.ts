import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs a program of this folder to its end, while servers of this process answer it. Throws with all that it put out when it fails. */
export async function drive (command: string, [program, ...args]: string[], env: Record<string, string>): Promise<string> {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(command, [path, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => { output += text })
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  if (status !== 0) throw new Error(output)
  return output.trim()
}
