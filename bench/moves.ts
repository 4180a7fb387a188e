import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type HostPart, type Lab, openLab } from '../test/machines/lab/lab.ts'
import { placeOf } from '../test/machines/lab/load.ts'
import { hasNamespaces } from '../test/machines/lab/network.ts'
import { until } from '../test/support/stead.ts'
import { type Figure, median, type Section } from './support/report.ts'
import { cpuWithEndedOf } from './support/servers.ts'

const run = promisify(execFile)

/** Size of the site that moves. */
export interface MovedSize {
  readonly files: number
  readonly fileBytes: number
  readonly databaseMb: number
}
const SIZE: MovedSize = { files: 20_000, fileBytes: 52 << 10, databaseMb: 220 }
const MOVES = 4
/** Steps of a move during which the site is closed, on either host. */
const CLOSED = ['close', 'keep_content', 'ask_content', 'receive_content', 'done']
const RECEIVING = ['content', 'answer']
/** How often a visitor asks for a page that no cache has. */
const VISIT_EVERY_MS = 50

/** Adds about a megabyte of rows to the table of posts. */
const fill = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
global $wpdb;
$words = preg_split('/\\s+/', strip_tags(file_get_contents(ABSPATH . 'readme.html')));
for ($row = 0; $row < 500; $row++) {
  $text = '';
  while (strlen($text) < 2000) $text .= $words[random_int(0, count($words) - 1)] . ' ';
  $rows[] = $wpdb->prepare("(1, %s, %s, 'publish', '', '', '', '', '', NOW(), NOW(), NOW(), NOW())", $text, bin2hex(random_bytes(8)));
}
$wpdb->query("INSERT INTO $wpdb->posts (post_author, post_content, post_title, post_status, post_excerpt, to_ping, pinged,
  post_content_filtered, post_name, post_date, post_date_gmt, post_modified, post_modified_gmt) VALUES " . implode(',', $rows));
echo $wpdb->last_error === '' ? 'filled' : $wpdb->last_error;`
/** Changes a row and a file, as the visitors of a site do. */
const change = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
update_option('visits', 1 + (int) get_option('visits'), false);
file_put_contents(WP_CONTENT_DIR . '/uploads/last-visit', microtime());
echo 'visited';`

interface Move {
  /** Milliseconds between the last page before the move's end and the first after it. */
  readonly unanswered: number
  readonly openMs: number
  readonly closedMs: number
  /** Milliseconds by step. Those of the new host begin with `new: `. */
  readonly steps: ReadonlyMap<string, number>
  /** Of all processes of Stead, and of the storage. */
  readonly cpuSeconds: number
}

/** A site that moves between two hosts, each with a MariaDB of its own, through an S3 storage. */
export async function movesBench(size: MovedSize = SIZE, moves = MOVES): Promise<Section> {
  const title = 'Moves between hosts'
  if (!hasNamespaces) return { title, how: 'Not measured: it needs root and `ip netns`.', figures: [] }
  const lab = await openLab({ edges: 1 })
  try {
    const site = await makeSite(lab, size)
    const plain = await copyPlainly(lab, site)
    const done: Move[] = []
    for (let number = 1; number <= moves; number++) {
      done.push(await move(lab, site, lab.hosts[number % 2] as HostPart))
      console.error(describeMove(done.at(-1) as Move))
    }
    return {
      title,
      how: `A site of ${size.files} files with ${Math.round((size.files * size.fileBytes) / 2 ** 20)} MB and ${size.databaseMb} MB of database moves ${moves} times between two hosts, through an S3 storage, all on one machine. Meanwhile, each visit changes a file and a row. The reference is a copy with the site closed: \`cp -a\` of the files and \`mariadb-dump\` piped into \`mariadb\`, to the same disk and server. Medians.`,
      figures: figuresOf(done, plain),
    }
  } finally {
    await lab.remove()
  }
}

const NAME = 'moved'

async function makeSite(lab: Lab, size: MovedSize): Promise<number> {
  const id = await lab.createSite(NAME, lab.hosts[0] as HostPart)
  const web = await webOf(lab, id)
  const { uid } = await stat(join(web, 'wp-content'))
  const own = async (path: string) => chown(path, uid, uid)
  for (const [name, text] of Object.entries({ 'fill.php': fill, 'change.php': change }))
    await writeFile(join(web, name), text)
  const uploads = join(web, 'wp-content/uploads')
  await mkdir(uploads, { recursive: true })
  await own(uploads)
  for (let number = 0; number < size.files; number++) {
    const folder = join(uploads, String(Math.floor(number / 200)))
    if (number % 200 === 0) {
      await mkdir(folder)
      await own(folder)
    }
    const path = join(folder, `${number}.jpg`)
    await writeFile(path, randomBytes(size.fileBytes))
    await own(path)
  }
  for (let number = 0; number < size.databaseMb; number++) {
    const { status, text } = await lab.visit(0, NAME, `/fill.php?n=${number}`, { timeoutMs: 60_000 })
    if (status !== 200 || text !== 'filled') throw new Error(`${status} ${text.slice(0, 500)}`)
  }
  return id
}

const hostOf = async (lab: Lab, siteId: number): Promise<HostPart> => {
  const [row] = await lab.records(
    `select hosts.name from hosts join sites on host_id = hosts.id where sites.id = ${siteId}`,
  )
  return lab.hosts.find(({ name }) => name === row?.name) as HostPart
}

async function webOf(lab: Lab, siteId: number): Promise<string> {
  return join((await hostOf(lab, siteId)).dataDir, 'sites', `h${await placeOf(lab, siteId)}`, 'web')
}

/** Copies the content as a person would. @returns milliseconds */
async function copyPlainly(lab: Lab, siteId: number): Promise<{ files: number; database: number }> {
  const { dataDir } = await hostOf(lab, siteId)
  const web = await webOf(lab, siteId)
  const copy = join(dataDir, 'plain-copy')
  const files = await timeOf(() => run('cp', ['-a', web, copy]))
  await rm(copy, { recursive: true })
  const login = `--defaults-file=${join(dataDir, 'mariadb/administrator.cnf')}`
  const { stdout } = await run('mariadb', [
    login,
    '-N',
    '-e',
    `show databases like '%\\_h${await placeOf(lab, siteId)}'`,
  ])
  await run('mariadb', [login, '-e', 'create database plain_copy'])
  const pipe = `mariadb-dump ${login} --single-transaction ${stdout.trim()} | mariadb ${login} plain_copy`
  const database = await timeOf(() => run('sh', ['-c', pipe]))
  await run('mariadb', [login, '-e', 'drop database plain_copy'])
  return { files, database }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function move(lab: Lab, siteId: number, to: HostPart): Promise<Move> {
  const before = cpuSecondsOf(lab)
  const visits = visitOften(lab)
  const { status, headers, body } = await lab.api('POST', `/v1/sites/${siteId}/relocate`, { host: to.name })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  const operation = headers.get('operation-id') as string
  const { state, error } = await lab.ended(operation)
  if (state !== 'succeeded') throw new Error(`the move failed: ${error}`)
  const unanswered = await visits.end()
  const steps = await stepsOf(lab, operation)
  const closedMs = sum(CLOSED.map((name) => steps.get(name) ?? 0))
  const own = [...steps].filter(([name]) => !name.startsWith('new: '))
  const openMs = sum(own.map(([, ms]) => ms)) - closedMs
  return { unanswered, closedMs, openMs, steps, cpuSeconds: cpuSecondsOf(lab) - before }
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/** The storage is in this process. */
const cpuSecondsOf = (lab: Lab) => {
  const { user, system } = process.cpuUsage()
  return (
    (user + system + sum([...lab.controls, ...lab.hosts, ...lab.edges].map(({ pid }) => cpuWithEndedOf(pid() ?? 0)))) /
    1e6
  )
}

/** Visits the site until it is ended. @returns the longest time without an answer from WordPress, in milliseconds */
function visitOften(lab: Lab): { end(): Promise<number> } {
  let [isOver, last, longest, number] = [false, performance.now(), 0, 0]
  const visiting = (async () => {
    while (!isOver) {
      const { status } = await lab.visit(0, NAME, `/change.php?n=${number++}`, { timeoutMs: 60_000 })
      if (status === 200) {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }
      await pause(VISIT_EVERY_MS)
    }
  })()
  return {
    async end() {
      await until('the site answers', () => performance.now() - last < 1000)
      isOver = true
      await visiting
      return longest
    },
  }
}

async function stepsOf(lab: Lab, operation: string): Promise<ReadonlyMap<string, number>> {
  const own = await lab.records(
    `select name, finished_at - started_at as ms from operation_steps where operation_id = ${operation} and finished_at is not null order by position`,
  )
  const received = await lab.records(
    `select s.name, s.finished_at - s.started_at as ms from operation_steps s where operation_id = (select max(id) from operations where type = 'site.receive') order by position`,
  )
  return new Map([
    ...own.map(({ name, ms }) => [String(name), Number(ms)] as const),
    ...received.map(({ name, ms }) => [`new: ${name}`, Number(ms)] as const),
  ])
}

const describeMove = ({ unanswered, openMs, closedMs, cpuSeconds, steps }: Move): string =>
  `unanswered ${seconds(unanswered)}, closed ${seconds(closedMs)}, open ${seconds(openMs)}, processor ${cpuSeconds.toFixed(1)} s: ${[...steps].map(([name, ms]) => `${name} ${ms}`).join(', ')}`

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

function figuresOf(moves: readonly Move[], plain: { files: number; database: number }): Figure[] {
  const of = (value: (move: Move) => number) => median(moves.map(value))
  const closed = of(({ closedMs }) => closedMs)
  const whole = plain.files + plain.database
  const step = (name: string) => of(({ steps }) => steps.get(name) ?? 0)
  return [
    {
      what: 'site closed',
      ...{ value: seconds(closed), yardstick: seconds(whole), ratio: (closed / whole).toFixed(2), aim: '≤ 6 s' },
    },
    { what: 'visitors without an answer', value: seconds(of(({ unanswered }) => unanswered)) },
    ...CLOSED.map((name) => ({ what: `closed: \`${name}\``, value: seconds(step(name)) })),
    ...RECEIVING.map((name) => ({ what: `new host: \`${name}\``, value: seconds(step(`new: ${name}`)) })),
    { what: 'open before', value: seconds(of(({ openMs }) => openMs)) },
    { what: 'processor time of all processes', value: `${of(({ cpuSeconds }) => cpuSeconds).toFixed(1)} s` },
  ]
}
