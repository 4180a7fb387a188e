/* Decides which sites of full hosts move to emptier ones. */

/** Host that takes sites. */
export interface WeighedHost {
  readonly id: number
  readonly name: string
  readonly maxSites: number
  readonly freeSites: number
}

export interface WeighedSite {
  readonly id: number
  readonly name: string
  readonly hostId: number
  /** Files and database. */
  readonly diskBytes: number
  /** Page views of the last week. */
  readonly visits: number
  /** Whether it stays on its host, because it moved lately or moves now. */
  readonly isFixed: boolean
  /** Hosts that can run it. */
  readonly hostIds: readonly number[]
}

export interface PlannedMove {
  readonly site: WeighedSite
  readonly from: WeighedHost
  readonly to: WeighedHost
  /** Loads of both hosts before this move, see {@link loadsOf}. */
  readonly loads: { readonly from: number; readonly to: number }
}

/** Hosts whose loads differ by at most this much stay as they are. */
const MARGIN = 0.1
/** Loads that differ by less are alike, and then the smaller site moves. */
const ALIKE = 1e-9

/**
 * Plans moves from the host with the highest load to the one with the lowest. Each makes the higher of both loads lower,
 * so no site goes back and forth.
 * @param most moves at most
 */
export function planRebalance(
  hosts: readonly WeighedHost[],
  sites: readonly WeighedSite[],
  most: number,
): readonly PlannedMove[] {
  const weights = weightsOf(hosts)
  const shareOf = sharesOf(sites)
  const loads = new Map(loadsOf(hosts, sites))
  const free = new Map(hosts.map(({ id, freeSites }) => [id, freeSites]))
  const left = sites.filter(({ isFixed }) => !isFixed)
  const loadOf = ({ id }: WeighedHost) => loads.get(id) as number
  const step = (site: WeighedSite, { id }: WeighedHost) => shareOf(site) / (weights.get(id) as number)

  function next(): PlannedMove | undefined {
    const byLoad = hosts.toSorted((one, other) => loadOf(other) - loadOf(one))
    for (const from of byLoad)
      for (const to of byLoad.toReversed()) {
        if (loadOf(from) - loadOf(to) <= MARGIN) break
        if ((free.get(to.id) as number) <= 0) continue
        /** The higher load of both hosts after the move. */
        const after = (site: WeighedSite) => Math.max(loadOf(from) - step(site, from), loadOf(to) + step(site, to))
        const fit = left.filter(({ hostId, hostIds }) => hostId === from.id && hostIds.includes(to.id))
        const best = fit.reduce<WeighedSite | undefined>((chosen, site) => {
          const lower = (chosen ? after(chosen) : loadOf(from)) - after(site)
          const isSmaller = chosen !== undefined && lower > -ALIKE && site.diskBytes < chosen.diskBytes
          return lower > ALIKE || isSmaller ? site : chosen
        }, undefined)
        if (best) return { site: best, from, to, loads: { from: loadOf(from), to: loadOf(to) } }
      }
  }

  const moves: PlannedMove[] = []
  while (moves.length < most) {
    const move = next()
    if (!move) break
    const { site, from, to } = move
    moves.push(move)
    left.splice(left.indexOf(site), 1)
    loads.set(from.id, loadOf(from) - step(site, from))
    loads.set(to.id, loadOf(to) + step(site, to))
    free.set(to.id, (free.get(to.id) as number) - 1)
  }
  return moves
}

/**
 * Returns the load of each host by its id. 1 is its fair share: the average of its shares of disk use and of visits,
 * compared with its share of places.
 */
export function loadsOf(hosts: readonly WeighedHost[], sites: readonly WeighedSite[]): ReadonlyMap<number, number> {
  const weights = weightsOf(hosts)
  const shareOf = sharesOf(sites)
  const share = (id: number) => sum(sites.filter(({ hostId }) => hostId === id).map(shareOf))
  return new Map(hosts.map(({ id }) => [id, share(id) / (weights.get(id) as number)]))
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/** A host without places counts as one with a single place, so that its sites leave. */
function weightsOf(hosts: readonly WeighedHost[]): ReadonlyMap<number, number> {
  const places = ({ maxSites }: WeighedHost) => Math.max(1, maxSites)
  const all = sum(hosts.map(places))
  return new Map(hosts.map((host) => [host.id, places(host) / all]))
}

/** A measure that no site has does not count. Without any, all sites are equal. */
function sharesOf(sites: readonly WeighedSite[]): (site: WeighedSite) => number {
  const measures = [({ diskBytes }: WeighedSite) => diskBytes, ({ visits }: WeighedSite) => visits]
  const known = measures.map((of) => ({ of, all: sum(sites.map(of)) })).filter(({ all }) => all > 0)
  if (known.length === 0) return () => 1 / sites.length
  return (site) => sum(known.map(({ of, all }) => of(site) / all)) / known.length
}
