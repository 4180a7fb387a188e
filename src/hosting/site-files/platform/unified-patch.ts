/** One place in a file that a patch changes. */
interface Hunk {
  /** The first line of the old file that it covers, from 1. */
  readonly line: number
  readonly before: readonly string[]
  readonly after: readonly string[]
}

interface FilePatch {
  readonly path: string
  readonly hunks: readonly Hunk[]
}

/**
 * Returns the files that a patch in unified format changes. Supports no patch that creates or removes files.
 * @throws when the patch has another format
 */
export function parsePatch(text: string): FilePatch[] {
  const files: { path: string; hunks: Hunk[] }[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    if (line.startsWith('+++ b/')) files.push({ path: line.slice(6), hunks: [] })
    const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    const file = files.at(-1)
    if (!head || !file) continue
    const before: string[] = []
    const after: string[] = []
    const [old = 1, now = 1] = [head[2], head[3]].map((count) => Number(count ?? 1))
    while (before.length < old || after.length < now) {
      const each = lines[++at]
      if (each === undefined || !/^[ +-]/.test(each))
        throw new Error(`the patch of ${file.path} is cut off at "${line}"`)
      if (!each.startsWith('+')) before.push(each.slice(1))
      if (!each.startsWith('-')) after.push(each.slice(1))
    }
    file.hunks.push({ line: Number(head[1]), before, after })
  }
  if (files.length === 0) throw new Error('the patch changes no file')
  return files
}

/**
 * Applies the changes of a patch to a text. Each place must match the patch letter for letter: nothing is guessed.
 * @throws when a place does not match
 */
export function applyHunks(text: string, { path, hunks }: FilePatch): string {
  const lines = text.split('\n')
  const made: string[] = []
  let at = 0
  for (const { line, before, after } of hunks) {
    made.push(...lines.slice(at, line - 1))
    at = line - 1
    for (const expected of before)
      if (lines[at++] !== expected)
        throw new Error(`the patch does not fit ${path}, line ${at}: "${expected}" is not there`)
    made.push(...after)
  }
  return [...made, ...lines.slice(at)].join('\n')
}
