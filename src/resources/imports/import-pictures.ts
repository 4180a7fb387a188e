import { MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import type { CompareOptions } from '../../hosting/site-imports/compare-pages.ts'
import type { HostServices } from '../kit/host-services.ts'
import type { Site } from '../sites/public.ts'

/** How pictures of an imported site are compared with those of the old one. A browser may get other pages than the site has. */
export function picturesOf(
  services: Pick<HostServices, 'comparePictures'>,
  site: Pick<Site, 'id' | 'isInMaintenance' | 'defensiveUntil'>,
  now: () => number,
): CompareOptions['comparePictures'] {
  return async (pages) => {
    if (site.isInMaintenance) throw new MeasureImpossible('This site is in maintenance mode')
    if ((site.defensiveUntil ?? 0) > now()) throw new MeasureImpossible('This site is in defensive mode')
    return services.comparePictures({ ...pages, siteId: site.id })
  }
}
