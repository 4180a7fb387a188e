/**
 * Tests the client for the plugin of an old site. Its answers are hostile until proven otherwise. The real plugin
 * answers in `test/e2e/import.test.ts`.
 */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { unpackZip } from '../../archives/unpack-zip.ts'
import { mirrorContent } from './mirror-content.ts'
import { movePluginZip } from './move-plugin.ts'
import { type OldSite, OldSiteLost, OldSiteRefused } from './old-site.ts'
import { answerLines } from './plugin-answer.ts'
import { openPluginSite } from './plugin-site.ts'

type Line = Readonly<Record<string, unknown>>
interface Question {
  readonly do: string
  readonly token: string
  readonly files: readonly { path: string; at: number; end: number }[]
  readonly folders: readonly { path: string; from: number }[]
  readonly after: { at: number } | null
  readonly rows: number
}
/** Lines, bytes, or a raw answer. */
type Answer = readonly (Line | Buffer | string)[]

let server: Server
let folder: string
let asked: Question[]
let answers: (question: Question) => Answer | number

const END = { end: true }
const hello = { hello: { wordpress: '6.8<b>', php: '7.4.3-ubuntu', prefix: 'shop_' } }
/** Returns the mark and what follows it: lines, or lines that announce bytes, and these bytes. */
function textOf(answer: Answer): Buffer {
  const pieces = answer.map((each) =>
    typeof each === 'string' || Buffer.isBuffer(each) ? Buffer.from(each) : Buffer.from(`${JSON.stringify(each)}\n`),
  )
  return Buffer.concat([Buffer.from('stead-move 1\n'), ...pieces])
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-plugin-'))
  asked = []
  server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const question = JSON.parse(text) as Question
    asked.push(question)
    const answer = question.do === 'hello' ? [hello, END] : answers(question)
    if (typeof answer === 'number') response.writeHead(answer).end()
    else response.end(textOf(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true })
})

const signal = new AbortController().signal
const open = (): Promise<OldSite> =>
  openPluginSite(
    { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'a-token' },
    { allowPrivate: true, signal, idleMs: 5000, maxEntries: 100 },
  )
const mirror = async (old: OldSite) =>
  mirrorContent(old, join(folder, 'content'), {
    ...{ maxBytes: 1 << 20, maxEntries: 100, keepFreeBytes: 0, signal },
    parts: join(folder, 'parts'),
  })

/** Answers like an old site of one folder with two files, sent in pieces. */
function pieces(question: Question): Answer {
  if (question.do === 'list')
    return question.folders[0]?.from === 0
      ? [{ folder: 0, entries: [['a.txt', 'file', 6, 1_700_000_000]], next: 1 }, END]
      : [
          {
            folder: 0,
            entries: [
              ['b.txt', 'file', 0, 1_700_000_000],
              ['l', 'link', 1, 1],
            ],
            next: null,
          },
          END,
        ]
  const [first] = question.files
  if (first?.path === 'a.txt' && first.at === 0) return [{ file: 0, n: 3 }, 'abc', END]
  const rest = question.files.flatMap(
    ({ path, at, end }, file): Answer =>
      at < end ? [{ file, n: end - at }, 'def', { file, done: true }] : [{ file, done: path === 'b.txt' }],
  )
  return [...rest, END]
}

describe('the plugin of an old site', () => {
  test('reports its software, in plain text only', async () => {
    expect((await open()).facts).toEqual({ prefix: 'shop_', wordpress: '6.8', php: '7.4' })
    expect(asked[0]).toMatchObject({ do: 'hello', token: 'a-token' })
  })

  test('sends folders and files in as many answers as it needs', async () => {
    answers = pieces
    const mirrored = await mirror(await open())
    expect(mirrored).toMatchObject({ files: 2, fetchedFiles: 2, links: 1 })
    expect(await readFile(join(folder, 'content/a.txt'), 'utf8')).toBe('abcdef')
    expect(asked.filter((each) => each.do === 'fetch').map(({ files }) => files[0]?.at)).toEqual([0, 3])
  })

  test('is not asked again for the part of an answer that arrived before a cut', async () => {
    answers = (question) => pieces(question).filter((each) => question.do === 'list' || each !== END)
    await mirror(await open())
    expect(await readFile(join(folder, 'content/a.txt'), 'utf8')).toBe('abcdef')
  })

  test('sends a dump in pieces, with fewer rows at a time when they are too large', async () => {
    answers = ({ do: what, after, rows }) => {
      if (what === 'tables') return [{ table: 'wp_a' }, END]
      if (after) return [{ n: 2 }, 'B;', { end: true, next: null }]
      return rows > 10 ? 500 : [{ n: 2 }, 'A;', { end: true, next: { at: 1 } }]
    }
    const text = await Array.fromAsync((await open()).dump())
    expect(String(Buffer.concat(text))).toMatch(/^-- Dump by .*\nSET NAMES utf8mb4;\nA;B;-- Dump completed\n$/)
    expect(asked.filter((each) => each.do === 'rows').map(({ rows }) => rows)).toEqual([1000, 100, 10, 10])
  })

  const listing = (entries: unknown[], more: Line = {}) => [{ folder: 0, entries, next: null, ...more }, END]
  test.each([
    ['a folder that was not asked for', () => [{ folder: 7, entries: [], next: null }, END]],
    ['an entry that is none', () => listing(['name'])],
    ['more entries than allowed', () => listing(Array.from({ length: 101 }, (_, at) => [`${at}`, 'file', 1, 1]))],
    ['a place that goes back', () => listing([], { next: 0 })],
    ['nothing', () => [END]],
    ['no JSON', () => ['<b>Warning</b>\n', END]],
    ['a piece without an end', () => [{ folder: 0, n: 2 ** 40 }, END]],
    ['a fault of its database', () => [{ fault: 'no\u0007' }, END]],
    ['a token that is another one', () => 403],
  ] as [string, () => Answer | number][])('is refused when it answers with %s', async (_, answer) => {
    answers = answer
    await expect(mirror(await open())).rejects.toThrow(OldSiteRefused)
    expect(asked.filter((each) => each.do === 'list')).toHaveLength(1)
  })

  test.each([
    ['more bytes than the file has', [{ file: 0, n: 9 }, 'aaaaaaaaa', { file: 0, done: true }, END]],
    ['a file that was not asked for', [{ file: 3, done: true }, END]],
    ['neither an end nor bytes', [{ file: 0 }, END]],
  ] as [string, Answer][])('is refused when it gives %s', async (_, answer) => {
    answers = ({ do: what }) => (what === 'list' ? listing([['a', 'file', 3, 1]]) : answer)
    await expect(mirror(await open())).rejects.toThrow(OldSiteRefused)
    expect(await readdir(join(folder, 'content'))).toEqual([])
  })

  test('sends names that lead elsewhere, which are left out', async () => {
    answers = () =>
      listing([
        ['../../evil', 'file', 1, 1],
        ['..', 'folder', 0, 1],
        ['a/b', 'file', 1, 1],
        ['', 'file', 1, 1],
      ])
    expect(await mirror(await open())).toMatchObject({ files: 0, leftOutCount: 4 })
    expect(await readdir(folder)).toEqual(['content'])
  })
})

describe('an answer', () => {
  const read = (...pieces: readonly (string | Buffer)[]) =>
    Array.fromAsync(
      answerLines(
        (async function* () {
          for (const piece of pieces) yield Buffer.from(piece)
        })(),
      ),
    )

  test('is read in pieces of any size, after the output of other plugins', async () => {
    const whole = Buffer.concat([Buffer.from('\ufeff<br>'), textOf([{ n: 3 }, 'a\nb', { x: 1 }, END])])
    const expected = [{ line: { n: 3 }, bytes: Buffer.from('a\nb') }, { line: { x: 1 } }, { line: END }]
    expect(await read(whole)).toMatchObject(expected)
    expect(
      await read(
        ...whole
          .toString('latin1')
          .split('')
          .map((each) => Buffer.from(each, 'latin1')),
      ),
    ).toMatchObject(expected)
  })

  test('is refused if it is a page, and lost without its last line', async () => {
    await expect(read('<html>'.repeat(2000))).rejects.toThrow('Install and activate it')
    await expect(read('<html>')).rejects.toThrow('Install and activate it')
    await expect(read(textOf([{ x: 1 }]))).rejects.toThrow(OldSiteLost)
    await expect(read(textOf([{ x: 'x'.repeat(5 << 20) }, END]))).rejects.toThrow(OldSiteRefused)
  })
})

test('the generated plugin contains the hash of its token, and its expiry', async () => {
  const archive = join(folder, 'plugin.zip')
  await writeFile(archive, await movePluginZip('a-token', 1_800_000_000_999))
  await mkdir(join(folder, 'out'))
  await unpackZip(archive, join(folder, 'out'), { limits: { maxBytes: 1 << 20, maxEntries: 10 } })
  const code = await readFile(join(folder, 'out/stead-move/stead-move.php'), 'utf8')
  expect(code).toContain(`'${createHash('sha256').update('a-token').digest('hex')}'`)
  expect(code).toContain("'1800000000'")
  expect(code).not.toMatch(/a-token|\{expires\}|\{token_hash\}/)
})
