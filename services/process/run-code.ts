import type { PackIndex } from '../lib/pack.ts'

// The functions of this file run in other threads and processes, as text that the build makes of them. So they use nothing from outside of
// themselves.

/**
 * Runs a program of the build: `code` is the text of a function, see scripts/bundle.ts. No file has the name `filename`. Stack traces show
 * that name, and packages are resolved from there. `runOther` runs another program of the build.
 */
export function runCode (code: string, filename: string, runOther?: (name: string) => unknown): unknown {
  const { createRequire } = process.getBuiltinModule('node:module')
  const { dirname } = process.getBuiltinModule('node:path')
  const { pathToFileURL } = process.getBuiltinModule('node:url')
  const { runInThisContext } = process.getBuiltinModule('node:vm')
  const program = runInThisContext(code, { filename })
  return program(createRequire(filename), filename, dirname(filename), pathToFileURL(filename).href, runOther)
}

/**
 * Runs the program `name` of the pack, which is open as the descriptor `fd`. For worker threads: they share the open files of their
 * process.
 */
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
 * Runs the program that is the first `length` bytes of standard input. For child processes: so a child is of the same build as its parent,
 * even if another build was installed meanwhile.
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
