import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stead } from '../../support/stead.ts'
import type { Records } from './records.ts'

/** A site that the load uses from beginning to end. */
export interface BaseSite {
  readonly id: number
  readonly name: string
  readonly directory: string
}

/** Stores what it is given, and confirms it. */
const keep = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
global $wpdb;
if ($wpdb->insert($wpdb->options, ['option_name' => 'kept-' . (int) $_GET['n'], 'option_value' => '1', 'autoload' => 'no']))
  echo 'kept ', (int) $_GET['n'];`
const kept = `<?php require 'wp-load.php'; header('Cache-Control: no-store');
global $wpdb;
echo json_encode($wpdb->get_col("SELECT option_name FROM $wpdb->options WHERE option_name LIKE 'kept-%'"));`

/** The owner's own file, which identifies a folder wherever it is moved. */
export const markerOf = (directory: string): string => join(directory, 'web', 'owner-of-this-site.txt')

export async function makeBaseSites(stead: Stead, records: Records): Promise<BaseSite[]> {
  const made: BaseSite[] = []
  for (const name of ['base-0', 'base-1']) {
    const id = await stead.createSite({ name })
    const directory = await directoryOf(stead, records, id)
    if (!directory) throw new Error(`${name} is live without a site directory`)
    await writeFile(join(directory, 'web/keep.php'), keep)
    await writeFile(join(directory, 'web/kept.php'), kept)
    await writeFile(markerOf(directory), name)
    made.push({ id, name, directory })
  }
  return made
}

/** @returns undefined while the site has no directory */
export async function directoryOf(stead: Stead, records: Records, siteId: number): Promise<string | undefined> {
  const [row] = await records(`select id from site_homes where site_id = ${siteId}`)
  return row && join(stead.dataDir, 'sites', `h${row.id}`)
}
