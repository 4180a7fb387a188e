import { disableCdn } from './disable-cdn.ts'
import { enableCdn } from './enable-cdn.ts'
import { getCdn } from './get-cdn.ts'
import { getEdgeCache } from './get-edge-cache.ts'
import { purgeCdn } from './purge-cdn.ts'
import { purgeEdgeCache } from './purge-edge-cache.ts'
import { purgeObjectCache } from './purge-object-cache.ts'
import { setDefensiveMode } from './set-defensive-mode.ts'
import { toggleCdn } from './toggle-cdn.ts'
import { toggleEdgeCache } from './toggle-edge-cache.ts'

/** In the order of the API description. */
export const endpoints = [
  getEdgeCache,
  toggleEdgeCache,
  purgeEdgeCache,
  setDefensiveMode,
  purgeCdn,
  getCdn,
  enableCdn,
  disableCdn,
  toggleCdn,
  purgeObjectCache,
]
