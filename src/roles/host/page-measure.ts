import { comparePictures } from '../../hosting/page-measure/compare-pictures.ts'
import { findChromium } from '../../hosting/page-measure/find-chromium.ts'
import {
  type BrowserVisit,
  type BrowserVisitOptions,
  findModules,
  installModules,
  MeasureImpossible,
  measurePage,
} from '../../hosting/page-measure/measure-page.ts'
import { comparePicturesAfter, takePictures } from '../../hosting/page-measure/take-pictures.ts'
import type { HairpinRoute } from '../../hosting/php/hairpin-route.ts'
import { findAbilities } from '../../hosting/php/wasm/containment.ts'
import { createNames } from '../../hosting/php/wasm/names.ts'
import { defaultEgressLimits, type Egress, reachOutside } from '../../hosting/php/wasm/network/egress.ts'
import { outsideOnly } from '../../platform/fetch/addresses.ts'
import { createOwnAddresses } from '../../platform/fetch/own-addresses.ts'
import { createResolver } from '../../platform/fetch/resolver.ts'
import { oneByOne } from '../../platform/one-by-one.ts'
import type { HostServices } from '../../resources/kit/host-services.ts'
import type { ProcessContext } from '../process-context.ts'
import type { HostBudgets } from './site-php.ts'

export interface PageMeasure
  extends Pick<HostServices, 'measurePage' | 'comparePictures' | 'takePictures' | 'comparePicturesAfter'> {
  /** Why no page can be measured here, and what to do. Undefined if it is possible. */
  readonly impossible: string | undefined
}

/** The name in budgets of the access that measuring browsers have. */
const WHO = 'performance reports'

/** Determines once whether the machine supports performance reports. */
export async function openPageMeasure(
  context: ProcessContext,
  budgets: HostBudgets,
  edge: HairpinRoute | undefined,
): Promise<PageMeasure> {
  const { config } = context
  const chromium = await findChromium(config.chromium)
  const { bubblewrap } = await findAbilities(config.sandbox)
  const impossible = whyNot(chromium, bubblewrap)
  const isOutside = outsideOnly(createOwnAddresses(config.edgeAddresses))
  const egress: Egress = {
    policy: { ...defaultEgressLimits, allows: isOutside },
    names: createNames({ resolver: createResolver(), lookups: budgets.lookups }),
    edge,
    connections: budgets.outgoing,
    site: WHO,
  }
  const inTurn = oneByOne()
  const optionsOf = <Page extends BrowserVisit>(page: Page): Page & BrowserVisitOptions => {
    if (impossible !== undefined || chromium === undefined) throw new MeasureImpossible(impossible)
    const own = { ...egress, looksAt: page.siteId }
    return { ...page, chromium, reach: (host: string, port: number) => reachOutside(host, port, own) }
  }
  /** One browser at a time: each may take the memory of ten sites. */
  const visit = <Page extends BrowserVisit, Result>(
    page: Page,
    go: (page: Page & BrowserVisitOptions) => Promise<Result>,
  ) => {
    const options = optionsOf(page)
    return inTurn(page.signal, () => go(options))
  }
  const inTurns = <Pages extends BrowserVisit>(pages: Pages) => ({
    ...optionsOf(pages),
    inTurn: <Result>(work: () => Promise<Result>) => inTurn(pages.signal, work),
  })
  return {
    impossible,
    measurePage: async (page) => visit(page, measurePage),
    comparePictures: async (pages) => visit(pages, comparePictures),
    takePictures: async (pages, onPage) => takePictures(inTurns(pages), onPage),
    comparePicturesAfter: async (pages, onPage) => comparePicturesAfter(inTurns(pages), onPage),
  }
}

function whyNot(chromium: string | undefined, bubblewrap: string | undefined): string | undefined {
  const again = 'and start Stead again'
  if (chromium === undefined)
    return `The host of the site has no Chromium. Its operator can install the package chromium, or set STEAD_CHROMIUM to a Chromium program, ${again}`
  if (bubblewrap === undefined)
    return `The browser requires a sandbox. The operator of the host can install the package bubblewrap, ${again}`
  if (findModules() === undefined)
    return `Lighthouse is not installed. The operator of the host can run ${installModules}, ${again}`
  return undefined
}
