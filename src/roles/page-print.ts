import type { Config } from '../config.ts'
import { findChromium } from '../hosting/page-measure/find-chromium.ts'
import { findModules, installModules, MeasureImpossible } from '../hosting/page-measure/measure-page.ts'
import { limitPrinter, type PrintPage, printInJail } from '../hosting/page-measure/print-page.ts'
import { findAbilities } from '../hosting/php/wasm/containment.ts'
import { oneByOne } from '../platform/one-by-one.ts'

/** Opens the printer of a control. It looks for a browser with the first page, because most controls never print. */
export function openPrinter(config: Config): PrintPage {
  let found: Promise<string> | undefined
  const inTurn = oneByOne()
  /** The recipients of one report come one after the other. */
  let last: { readonly html: string; readonly pdf: Buffer } | undefined
  return limitPrinter(async ({ html, signal }) => {
    found ??= findBrowser(config)
    const chromium = await found
    return inTurn(signal, async () => {
      if (last?.html !== html) last = { html, pdf: await printInJail({ html, signal, chromium }) }
      return last.pdf
    })
  })
}

/** @throws MeasureImpossible */
async function findBrowser(config: Config): Promise<string> {
  const again = 'and start Stead again'
  const chromium = await findChromium(config.chromium)
  if (chromium === undefined)
    throw new MeasureImpossible(
      `The control process has no Chromium. The operator can install the package chromium, or set STEAD_CHROMIUM, ${again}`,
    )
  if ((await findAbilities(config.sandbox)).bubblewrap === undefined)
    throw new MeasureImpossible(
      `The browser requires a sandbox. The operator can install the package bubblewrap, ${again}`,
    )
  if (findModules() === undefined)
    throw new MeasureImpossible(
      `The packages of the browser are not installed. The operator can run ${installModules}, ${again}`,
    )
  return chromium
}
