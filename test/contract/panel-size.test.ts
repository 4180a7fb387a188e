/** What a browser downloads before the panel's first page, compressed as the API sends it. Pages load their own scripts. */
import { brotliCompressSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { beforeAll, expect, test } from 'vitest'

const KB = 1000
let output: Rolldown.RolldownOutput['output']
beforeAll(async () => {
  const built = await build({ configFile: 'src/panel/vite.config.ts', build: { write: false } })
  output = ([built].flat()[0] as Rolldown.RolldownOutput).output
})

/** A script, and all that it imports at its start. */
function withImports(fileName: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(fileName)) return known
  known.add(fileName)
  const chunk = output.find((each) => each.fileName === fileName)
  if (chunk?.type === 'chunk') for (const each of chunk.imports) withImports(each, known)
  return known
}

const bytesOf = (wanted: (fileName: string) => boolean): number =>
  output
    .filter(({ fileName }) => wanted(fileName))
    .map((each) => brotliCompressSync(each.type === 'chunk' ? each.code : each.source).length)
    .reduce((sum, bytes) => sum + bytes, 0)

test('loads at most 45 kB of scripts first', () => {
  const entry = output.find((each) => each.type === 'chunk' && each.isEntry)
  const first = withImports(entry?.fileName ?? '')
  expect(first.size).toBeGreaterThan(1)
  const bytes = bytesOf((fileName) => first.has(fileName))
  expect(bytes).toBeGreaterThan(20 * KB)
  expect(bytes).toBeLessThanOrEqual(45 * KB)
})

test.each([
  ['styles', '.css', 12],
  ['the font', '.woff2', 50],
])('loads little for %s', (_, ending, most) => {
  const bytes = bytesOf((fileName) => fileName.endsWith(ending))
  expect(bytes).toBeGreaterThan(KB)
  expect(bytes).toBeLessThanOrEqual(most * KB)
})
