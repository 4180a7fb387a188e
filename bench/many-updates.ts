import { setTimeout as pause } from 'node:timers/promises'
import { hasChromium } from '../test/support/chromium.ts'
import { nativeAndMariaDb } from '../test/support/native-mariadb.ts'
import { type PluginDirectoryServer, pluginFile, startPluginDirectory } from '../test/support/plugin-directory.ts'
import { type Stead, startStead } from '../test/support/stead.ts'
import { type Figure, median, percentile, type Section } from './support/report.ts'
import { cpuWithEndedOf } from './support/servers.ts'

const SITES = 100
/** Pictures take minutes for each site. */
const PICTURED_SITES = 5
const MOST_MS = 7_200_000
const QUIET_REQUESTS = 100
const PLUGIN = 'forms'

/** A safe update of many sites on one host, and what visitors of the updated sites feel. */
export async function manyUpdatesBench(): Promise<Section> {
  const plain = await measure(SITES, { STEAD_CHROMIUM: '/none' })
  const pictured = hasChromium ? await measure(PICTURED_SITES, {}) : undefined
  const runtime = nativeAndMariaDb.skip ? 'WebAssembly' : 'native PHP with MariaDB'
  return {
    title: 'Safe updates of many sites',
    how: `One request updates a plugin on ${SITES} sites of one host safely, on ${runtime}. A host updates one site after the other. All updates are kept. Meanwhile, a visitor asks the site that is updated for a page that no cache has, ten times a second. The reference is the same of all sites before the update.${pictured ? ` The second part takes pictures with Chromium, on ${PICTURED_SITES} sites.` : ''}`,
    figures: [
      ...figuresOf(plain, SITES, 'without pictures'),
      ...(pictured ? figuresOf(pictured, PICTURED_SITES, 'with pictures') : []),
    ],
  }
}

interface Measured {
  readonly ms: number
  readonly cpuSeconds: number
  readonly quiet: Felt
  readonly busy: Felt
}

/** What visitors feel. */
interface Felt {
  /** Milliseconds of each page. */
  readonly times: number[]
  failed: number
}

function figuresOf({ ms, cpuSeconds, quiet, busy }: Measured, sites: number, how: string): Figure[] {
  const shown = ({ times }: Felt) =>
    `${Math.round(median(times))} ms, ${Math.round(percentile(times, 0.95))} ms, ${Math.round(Math.max(...times))} ms`
  return [
    { what: `${how}: sites an hour`, value: `${Math.round((sites / ms) * 3_600_000)}` },
    { what: '… processor time of all of Stead, a site', value: `${(cpuSeconds / sites).toFixed(1)} s` },
    {
      what: '… a page of the site meanwhile, median, p95 and longest',
      value: shown(busy),
      yardstick: shown(quiet),
    },
    { what: '… pages with another status than 200', value: `${busy.failed} of ${busy.times.length}` },
  ]
}

async function measure(sites: number, env: Readonly<Record<string, string>>): Promise<Measured> {
  const directory = await startPluginDirectory()
  publish(directory, '1.0')
  const stead = await startStead({
    env: {
      ...(nativeAndMariaDb.skip ? {} : { STEAD_RUNTIME: 'native', STEAD_MARIADB: 'own' }),
      STEAD_WORDPRESS_API: directory.base,
      STEAD_ALLOW_PRIVATE_FETCH: 'true',
      ...env,
    },
  })
  try {
    const names = new Map<number, string>()
    for (let number = 1; number <= sites; number++) {
      const name = `kept-${number}`
      const id = await stead.createSite({ name })
      names.set(id, name)
      await finished(stead, `/v1/sites/${id}/plugins`, { plugins: [{ path: PLUGIN }] })
      // Stead stores what it lists, and the update of many sites looks there.
      await stead.api('GET', `/v1/sites/${id}/plugins`)
    }
    const quiet: Felt = { times: [], failed: 0 }
    for (let number = 0; number < QUIET_REQUESTS; number++)
      await visit(stead, [...names.values()][number % sites], quiet)
    publish(directory, '1.1')
    const cpu = () => cpuWithEndedOf(stead.role('supervisor')?.pid as number) / 1e6
    const [cpuBefore, startedAt] = [cpu(), performance.now()]
    const updated = finished(stead, '/v1/safe-updates', { siteIds: [...names.keys()], plugins: [{ path: PLUGIN }] })
    const busy = await visitUpdated(stead, names, updated)
    return { ms: performance.now() - startedAt, cpuSeconds: cpu() - cpuBefore, quiet, busy }
  } finally {
    await stead.remove()
    directory.close()
  }
}

const publish = (directory: PluginDirectoryServer, version: string) =>
  directory.publish(PLUGIN, version, { [`${PLUGIN}.php`]: pluginFile(PLUGIN, version) })

/** Sends a request, and waits until its operation has succeeded. */
async function finished(stead: Stead, path: string, body: object): Promise<void> {
  const { status, headers, body: answer } = await stead.api('POST', path, body)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(answer)}`)
  const { state, error } = await stead.ended(headers.get('operation-id') as string, MOST_MS)
  if (state !== 'succeeded') throw new Error(`${path}: ${state}, ${error}`)
}

async function visit(stead: Stead, name: string | undefined, felt: Felt): Promise<void> {
  const began = performance.now()
  const { status } = await stead.visit(name as string, `/?bench=${began}`)
  felt.times.push(performance.now() - began)
  if (status !== 200) felt.failed++
}

/** Visits the site that is updated, until all are. */
async function visitUpdated(stead: Stead, names: ReadonlyMap<number, string>, updated: Promise<void>): Promise<Felt> {
  const felt: Felt = { times: [], failed: 0 }
  let isOver = false
  const end = updated.finally(() => {
    isOver = true
  })
  let name: string | undefined
  const follow = async () => {
    for (; !isOver; await pause(500)) {
      const { body } = await stead.api('GET', '/v1/safe-updates?state=in_progress&per_page=1')
      name = names.get(body.data?.[0]?.site_id)
    }
  }
  const ask = async () => {
    for (; !isOver; await pause(100)) if (name !== undefined) await visit(stead, name, felt)
  }
  await Promise.all([end, follow(), ask()])
  return felt
}
