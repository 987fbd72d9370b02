import type { PackIndex } from '../lib/pack.ts'

// The functions of this file run in other threads and processes, as text that the build makes of them. So they use nothing from outside of
// themselves.

/**
 * Runs a program of the build: the body of a function with these parameters, see scripts/bundle.ts. No file has the name `filename`;
 * packages are resolved from there, and stack traces show it.
 */
export function runCode (code: string, filename: string, runOther?: (name: string) => unknown): unknown {
  const { createRequire } = process.getBuiltinModule('node:module')
  const { dirname } = process.getBuiltinModule('node:path')
  const { pathToFileURL } = process.getBuiltinModule('node:url')
  const { runInThisContext } = process.getBuiltinModule('node:vm')
  const program = runInThisContext(code, { filename })
  return program(createRequire(filename), filename, dirname(filename), pathToFileURL(filename).href, runOther)
}

/** Runs a program of the pack, which is open as `fd`. For a worker thread: it shares the open files of its process. */
export function runPacked (run: typeof runCode, fd: number, index: PackIndex, folder: string, name: string): unknown {
  const { readSync } = process.getBuiltinModule('node:fs')
  const { join } = process.getBuiltinModule('node:path')
  const runOther = (name: string): unknown => {
    const [start, length] = index[name]
    const code = Buffer.alloc(length)
    readSync(fd, code, 0, length, start)
    return run(code.toString('latin1'), join(folder, name), runOther)
  }
  return runOther(name)
}

/**
 * Runs the program that is the first `length` bytes of standard input. For a child process: it is then of the same build as its
 * parent, whatever was installed meanwhile.
 */
export function runInput (run: typeof runCode, filename: string, length: string, ...args: string[]): unknown {
  const { readSync } = process.getBuiltinModule('node:fs')
  const code = Buffer.alloc(Number(length))
  for (let filled = 0; filled < code.length;) {
    const read = readSync(0, code, filled, code.length - filled, null)
    if (read === 0) return process.exit(1)
    filled += read
  }
  process.argv.splice(1, Infinity, filename, ...args)
  return run(code.toString('latin1'), filename)
}
