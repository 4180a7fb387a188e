import { defaultEgressLimits } from '../src/hosting/php/wasm/network/egress.ts'
import { createWasmRuntime } from '../src/hosting/php/wasm/start.ts'
import { testCore } from '../test/support/core.ts'
import { testBudgets } from '../test/support/site-directory.ts'
import { startStead } from '../test/support/stead.ts'
import { untilCodeIsKept } from './support/kept-code.ts'
import { median, type Section } from './support/report.ts'

const PAGES = 60

/** A warm uncached page for a visitor, beside the time of PHP itself in its process. */
export async function pageBench(): Promise<Section> {
  const stead = await startStead()
  try {
    await untilCodeIsKept(stead)
    await stead.createSite({ name: 'bench-page' })
    const times = { ours: [] as number[], plain: [] as number[] }
    const directory = stead.directoryOf('bench-page')
    for (let page = 0; page < 20; page++) await stead.visit('bench-page', `/?warm=${page}`)
    for (let page = 0; page < PAGES; page++)
      times.ours.push(await timed(() => stead.visit('bench-page', `/?page=${page}`)))
    await stead.stop()
    const plain = await plainPhp(directory, `bench-page.localhost:${stead.edgePort}`)
    await plain.warm(20)
    for (let page = 0; page < PAGES; page++) times.plain.push(await plain.page(page))
    await plain.stop()
    return {
      title: 'An uncached page',
      how: `The front page of a fresh site, ${PAGES} times after 20 warm-up requests, one at a time. Stead serves it through edge, host, and the contained process. The reference is the same PHP in the same kind of process without containment, from the request to the last byte, with nothing in between.`,
      figures: [
        {
          what: 'front page, median',
          value: `${median(times.ours).toFixed(0)} ms`,
          yardstick: `${median(times.plain).toFixed(0)} ms`,
          ratio: (median(times.ours) / median(times.plain)).toFixed(2),
          aim: '≤ 1.15',
        },
      ],
    }
  } finally {
    await stead.remove()
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** PHP in a process without isolation, called directly. */
async function plainPhp(siteDirectory: string, address: string) {
  const runtime = await createWasmRuntime({
    sandbox: 'none',
    priority: 0,
    memoryLimitMb: 256,
    uploadMaxMb: 128,
    egress: { ...defaultEgressLimits, allows: () => false },
    budgets: testBudgets(),
  })
  const corePath = (await testCore()) as string
  const process = await runtime.start({
    siteDirectory,
    corePath,
    phpVersion: '8.3',
    uid: null,
    address,
  })
  const page = (number: number) =>
    timed(async () => {
      const { status, body, finished } = await process.request({
        method: 'GET',
        path: `/?page=${number}`,
        script: '/wordpress/index.php',
        headers: [],
        body: null,
        bodyBytes: 0,
        remoteAddress: '127.0.0.1',
        https: false,
        host: address,
      })
      if (status !== 200) throw new Error(`the yardstick answered ${status}`)
      body.resume()
      await finished
    })
  return {
    page,
    async warm(pages: number) {
      for (let number = 0; number < pages; number++) await page(number)
    },
    stop: () => runtime.close(),
  }
}
