import type { Plan } from './plans.ts'

/** Extension of a plan's limits. */
export interface Addon {
  readonly id: number
  readonly name: string
  /** What one unit adds, in `unit`. */
  readonly unitAllocation: number
  readonly priceInCents: number
  readonly unit: 'sites' | 'visits' | 'gigabytes'
}

/** The catalog. Ids are stored, so they never change. */
export const addons: readonly Addon[] = [
  { id: 1, name: '1 Site', unitAllocation: 1, priceInCents: 1500, unit: 'sites' },
  { id: 4, name: '5 Sites', unitAllocation: 5, priceInCents: 5000, unit: 'sites' },
  { id: 8, name: '10 Sites', unitAllocation: 10, priceInCents: 7500, unit: 'sites' },
  { id: 11, name: '100K Site Visits', unitAllocation: 100_000, priceInCents: 8000, unit: 'visits' },
  { id: 12, name: 'Storage', unitAllocation: 1, priceInCents: 50, unit: 'gigabytes' },
]

/** Add-on of an account, never with quantity 0. */
export interface AttachedAddon {
  readonly addonId: number
  readonly quantity: number
}

export const addonOf = (id: number): Addon | undefined => addons.find((addon) => addon.id === id)

/** Returns the capacity of an account: its plan, with the additional sites of either kind from its add-ons. */
export function capacityOf(plan: Plan, attached: readonly AttachedAddon[]): Plan {
  const moreSites = attached
    .map(({ addonId, quantity }) => ({ addon: addonOf(addonId), quantity }))
    .filter(({ addon }) => addon?.unit === 'sites')
    .reduce((sum, { addon, quantity }) => sum + quantity * (addon as Addon).unitAllocation, 0)
  return { ...plan, maxBillable: plan.maxBillable + moreSites, maxStaging: plan.maxStaging + moreSites }
}

/** Returns add-ons as the API lists them. Omits those that are no longer in the catalog. */
export const presentAttached = (attached: readonly AttachedAddon[]): { name: string; quantity: number }[] =>
  attached.flatMap(({ addonId, quantity }) => {
    const addon = addonOf(addonId)
    return addon ? [{ name: addon.name, quantity }] : []
  })
