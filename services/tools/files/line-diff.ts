import { diffArrays, type StructuredPatchHunk } from 'diff'
import { countWhile } from '../../lib/count-while.ts'

/** A part of the old text and the part of the new text that replaces it, as ranges of lines; `to` is exclusive. */
interface Change {
  old: [from: number, to: number]
  now: [from: number, to: number]
}

/** The most edits in a part that has no line that both texts contain exactly once. With more, the whole part is one change. */
const MOST_EDITS = 300

/**
 * Returns the changes between two lists of lines, in order. Lines that both lists contain exactly once are matched first, so that the time
 * depends only on the number of lines, not on the number of differences.
 */
function changedLines (old: readonly string[], now: readonly string[]): Change[] {
  const found: Change[] = []
  const open: Change[] = [{ old: [0, old.length], now: [0, now.length] }]
  while (open.length > 0) {
    const change = trim(open.pop()!, old, now)
    const [[from, to], [nowFrom, nowTo]] = [change.old, change.now]
    if (from === to && nowFrom === nowTo) continue
    const anchors = from === to || nowFrom === nowTo ? [] : anchorsIn(change, old, now)
    if (anchors.length === 0) found.push(...fewEdits(change, old, now))
    let [at, nowAt] = [from, nowFrom]
    for (const [line, nowLine] of [...anchors, ...anchors.length > 0 ? [[to, nowTo]] : []]) {
      open.push({ old: [at, line], now: [nowAt, nowLine] })
      ;[at, nowAt] = [line + 1, nowLine + 1]
    }
  }
  return found.sort((one, other) => one.old[0] - other.old[0] || one.now[0] - other.now[0])
}

/** Returns a change without the equal lines at its beginning and end. */
function trim ({ old: [from, to], now: [nowFrom, nowTo] }: Change, old: readonly string[], now: readonly string[]): Change {
  while (from < to && nowFrom < nowTo && old[from] === now[nowFrom]) {
    from++
    nowFrom++
  }
  while (from < to && nowFrom < nowTo && old[to - 1] === now[nowTo - 1]) {
    to--
    nowTo--
  }
  return { old: [from, to], now: [nowFrom, nowTo] }
}

/**
 * Returns pairs of positions of lines that both parts contain exactly once: the longest series of such lines that has the same order in
 * both.
 */
function anchorsIn ({ old: [from, to], now: [nowFrom, nowTo] }: Change, old: readonly string[], now: readonly string[]) {
  const places = onceIn(now, nowFrom, nowTo)
  const pairs = [...onceIn(old, from, to)].flatMap(([line, at]): Array<[number, number]> => {
    const nowAt = places.get(line)
    return nowAt === undefined ? [] : [[at, nowAt]]
  }).sort(([one], [other]) => one - other)
  // Finds the longest increasing subsequence of places: for each length, `ends` holds the pair with the lowest last place.
  const ends: number[] = []
  const before: number[] = []
  for (const [n, [, place]] of pairs.entries()) {
    const shorter = countWhile(ends, (end) => pairs[end][1] < place)
    before[n] = shorter === 0 ? -1 : ends[shorter - 1]
    ends[shorter] = n
  }
  const anchors: Array<[number, number]> = []
  for (let n = ends.at(-1) ?? -1; n !== -1; n = before[n]) anchors.push(pairs[n])
  return anchors.reverse()
}

/** Returns the positions of the lines that a part contains exactly once. */
function onceIn (lines: readonly string[], from: number, to: number): Map<string, number> {
  const places = new Map<string, number>()
  for (let at = from; at < to; at++) places.set(lines[at], places.has(lines[at]) ? -1 : at)
  for (const [line, at] of places) if (at === -1) places.delete(line)
  return places
}

/**
 * Divides a change into the smallest changes by a minimal edit script. Returns the change itself if that needs more than MOST_EDITS edits.
 */
function fewEdits (change: Change, old: readonly string[], now: readonly string[]): Change[] {
  const [[from, to], [nowFrom, nowTo]] = [change.old, change.now]
  if (from === to || nowFrom === nowTo) return [change]
  const parts = diffArrays(old.slice(from, to), now.slice(nowFrom, nowTo), { maxEditLength: MOST_EDITS })
  if (parts === undefined) return [change]
  const found: Change[] = []
  let [at, nowAt] = [from, nowFrom]
  for (const { value: { length }, added = false, removed = false } of parts) {
    const last = found.at(-1)
    const part: Change = { old: [at, added ? at : at + length], now: [nowAt, removed ? nowAt : nowAt + length] }
    ;[at, nowAt] = [part.old[1], part.now[1]]
    if (!added && !removed) continue
    if (last !== undefined && last.old[1] === part.old[0] && last.now[1] === part.now[0]) {
      last.old[1] = at
      last.now[1] = nowAt
    } else found.push(part)
  }
  return found
}

const NO_LINE_END = '\\ No newline at end of file'

/** Returns the hunks of a unified diff of two texts, with `context` unchanged lines around each change. */
export function diffHunks (oldText: string, nowText: string, context: number): StructuredPatchHunk[] {
  const [old, now] = [oldText, nowText].map((text) => text === '' ? [] : text.split(/(?<=\n)/))
  const groups: Change[][] = []
  for (const change of changedLines(old, now)) {
    const last = groups.at(-1)
    if (last !== undefined && change.old[0] - last.at(-1)!.old[1] <= 2 * context) last.push(change)
    else groups.push([change])
  }
  return groups.map((changes) => hunkOf(changes, { old, now, context }))
}

function hunkOf (changes: Change[], { old, now, context }: { old: string[], now: string[], context: number }): StructuredPatchHunk {
  const [first, last] = [changes[0], changes.at(-1)!]
  const lead = Math.min(context, first.old[0])
  const [from, nowFrom] = [first.old[0] - lead, first.now[0] - lead]
  const to = Math.min(last.old[1] + context, old.length)
  const lines: string[] = []
  const add = (sign: string, some: string[]) => {
    for (const line of some) {
      lines.push(sign + line.replace(/\n$/, ''))
      if (!line.endsWith('\n')) lines.push(NO_LINE_END)
    }
  }
  let at = from
  for (const change of changes) {
    add(' ', old.slice(at, change.old[0]))
    add('-', old.slice(...change.old))
    add('+', now.slice(...change.now))
    at = change.old[1]
  }
  add(' ', old.slice(at, to))
  const nowTo = last.now[1] + to - last.old[1]
  return { oldStart: from + 1, oldLines: to - from, newStart: nowFrom + 1, newLines: nowTo - nowFrom, lines }
}
