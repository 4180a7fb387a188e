/**
 * Work on the sites of a lab while something happens to it: numbered writes and readers, through each edge. A number
 * that a site has acknowledged must exist later. Each row names the directory in which it was written.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { HostPart, Lab } from './lab.ts'

export interface WorkedSite {
  readonly id: number
  readonly name: string
}

/** Stores a number as a file and as a row with the directory where it runs, and confirms it. */
const keep = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
global $wpdb;
if (!file_put_contents(WP_CONTENT_DIR . '/kept-' . (int) $_GET['n'], 'kept')) exit('no file');
$row = ['option_name' => 'kept-' . (int) $_GET['n'], 'option_value' => basename(dirname(__DIR__)), 'autoload' => 'no'];
echo $wpdb->insert($wpdb->options, $row) ? 'kept ' . (int) $_GET['n'] : 'no row: ' . $wpdb->last_error;`
const kept = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
global $wpdb;
$rows = $wpdb->get_results("SELECT option_name n, option_value place FROM $wpdb->options
  WHERE option_name LIKE 'kept-%' ORDER BY option_id");
foreach ($rows as $row) $row->hasFile = is_file(WP_CONTENT_DIR . '/' . $row->n);
echo json_encode($rows);`

/** The directory that serves a site. @returns its number */
export async function placeOf(lab: Lab, siteId: number): Promise<number> {
  const [row] = await lab.records(`select id from site_homes where site_id = ${siteId} and state <> 'apart'`)
  return Number(row?.id)
}

export async function makeWorkedSite(lab: Lab, name: string, host: HostPart): Promise<WorkedSite> {
  const id = await lab.createSite(name, host)
  const web = join(host.dataDir, 'sites', `h${await placeOf(lab, id)}`, 'web')
  await writeFile(join(web, 'keep.php'), keep)
  await writeFile(join(web, 'kept.php'), kept)
  return { id, name }
}

export interface Work {
  /** Numbers that the site has acknowledged. */
  readonly acknowledged: ReadonlyMap<string, readonly number[]>
  /** Statuses of reads that the cache does not have, in order, by site. 0: no answer. */
  readonly reads: ReadonlyMap<string, readonly number[]>
  /** Status and beginning of the answer of each write that the site has not acknowledged. */
  readonly unacknowledged: ReadonlyMap<string, readonly string[]>
  /** Ends it, and waits for requests in flight. */
  end(): Promise<void>
}

/** Longer than any request may take that Stead answers. */
const ANSWER_MS = 60_000

/** Starts a writer and a reader for each site and edge. */
export function startWork(lab: Lab, sites: readonly WorkedSite[], from: { next: number }): Work {
  const acknowledged = new Map<string, number[]>(sites.map(({ name }) => [name, []]))
  const unacknowledged = new Map<string, string[]>(sites.map(({ name }) => [name, []]))
  const reads = new Map<string, number[]>(sites.map(({ name }) => [name, []]))
  let isOver = false
  const ask = (edge: number, site: string, path: string, method = 'GET') =>
    lab.visit(edge, site, path, { method, timeoutMs: ANSWER_MS }).catch(() => ({ status: 0, text: '' }))
  const write = async (edge: number, site: string) => {
    while (!isOver) {
      const n = from.next++
      const { status, text } = await ask(edge, site, `/keep.php?n=${n}`, 'POST')
      if (status === 200 && text === `kept ${n}`) acknowledged.get(site)?.push(n)
      else unacknowledged.get(site)?.push(`${status} ${text.slice(0, 200)}`)
      await pause(200)
    }
  }
  const read = async (edge: number, site: string) => {
    for (let n = 0; !isOver; n++) {
      reads.get(site)?.push((await ask(edge, site, `/wp-login.php?n=${n}`)).status)
      await pause(200)
    }
  }
  const working = sites.flatMap(({ name }) => lab.edges.flatMap((_, edge) => [write(edge, name), read(edge, name)]))
  return {
    acknowledged,
    unacknowledged,
    reads,
    async end() {
      isOver = true
      await Promise.all(working)
    },
  }
}

export interface KeptRows {
  /** Of rows whose file is there, too. */
  readonly numbers: ReadonlySet<number>
  /** The directories in which rows were written, in order, without repetitions. */
  readonly places: readonly string[]
}

/** Returns the rows that a site has. */
export async function keptRows(lab: Lab, site: WorkedSite): Promise<KeptRows> {
  const { status, text } = await lab.visit(0, site.name, '/kept.php')
  if (status !== 200) throw new Error(`${site.name}: ${status} ${text.slice(0, 500)}`)
  const rows = JSON.parse(text) as { n: string; place: string; hasFile: boolean }[]
  const places = rows.map(({ place }) => place).filter((place, index, all) => place !== all[index - 1])
  const complete = rows.filter(({ hasFile }) => hasFile)
  return { numbers: new Set(complete.map(({ n }) => Number(n.slice('kept-'.length)))), places }
}

/** Takes backups of files and database that the site can be recovered from. */
export async function backUp(lab: Lab, { id }: WorkedSite): Promise<void> {
  for (const type of ['fs', 'db']) {
    const { status, headers, body } = await lab.api('POST', `/v1/sites/${id}/ondemand-backups`, { backup_type: type })
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
    const { state, error } = await lab.ended(headers.get('operation-id') as string)
    if (state !== 'succeeded') throw new Error(`the backup failed: ${error}`)
  }
}
