import { win32 } from 'node:path'

type Entry = 'file' | 'folder' | { link: string }

/**
 * An in-memory file system that behaves like Windows: names match in any case and by their short form, and `realpath` returns the stored
 * names. `asked` holds all requested paths.
 */
export function windowsFiles (entries: Record<string, Entry>, shortNames: Record<string, string> = {}) {
  const asked: string[] = []
  const stored = new Map(Object.keys(entries).map((path) => [path.toLowerCase(), path]))
  const absent = (path: string) => Object.assign(new Error(`ENOENT ${path}`), { code: 'ENOENT' })

  function find (path: string, followsLast: boolean): string {
    const { root } = win32.parse(path)
    let place = root
    const names = path.slice(root.length).split('\\').filter((name) => name !== '')
    for (const [at, name] of names.entries()) {
      const full = win32.join(place, name)
      const known = stored.get((shortNames[full] ?? full).toLowerCase())
      if (known === undefined) throw absent(path)
      const entry = entries[known]
      const isFollowed = typeof entry === 'object' && (followsLast || at < names.length - 1)
      place = isFollowed ? find(win32.resolve(win32.dirname(known), entry.link), true) : known
    }
    return place
  }
  const ask = async (path: string, followsLast: boolean) => {
    asked.push(path)
    return find(path, followsLast)
  }

  return {
    asked,
    files: {
      lstat: async (path: string) => {
        const place = await ask(path, false)
        return { isSymbolicLink: () => typeof entries[place] === 'object', dev: 1n, ino: BigInt([...stored.values()].indexOf(place) + 1) }
      },
      realpath: (path: string) => ask(path, true),
      readlink: async (path: string) => {
        const entry = entries[await ask(path, false)]
        if (typeof entry !== 'object') throw absent(path)
        return entry.link
      },
      readdir: async (path: string) => {
        const folder = await ask(path, true)
        return Object.keys(entries).filter((each) => win32.dirname(each) === folder && each !== folder).map((each) => win32.basename(each))
      }
    }
  }
}
