/** Limits of an account. */
export interface Plan {
  readonly name: string
  /** Sites that are not staging sites. */
  readonly maxBillable: number
  readonly maxStaging: number
  readonly multisite: boolean
  /** Disk space of one site in MB, if less than in the settings. If absent, the settings apply. */
  readonly siteDiskMb?: number
}

const plans: readonly Plan[] = [
  { name: 'Personal', maxBillable: 3, maxStaging: 4, multisite: false, siteDiskMb: 5120 },
  { name: 'Business', maxBillable: 20, maxStaging: 21, multisite: false },
  { name: 'High Traffic', maxBillable: 200, maxStaging: 201, multisite: true },
]

/** The plan of the account that Stead creates at the first start. */
export const firstPlan = 'High Traffic'

/** The plan of an account that Stead creates for an invited collaborator. */
export const invitedPlan = 'Personal'

export const planNames: readonly string[] = plans.map(({ name }) => name)

/** An account whose plan is no longer offered falls back to the smallest. */
export const planNamed = (name: string): Plan => plans.find((plan) => plan.name === name) ?? (plans[0] as Plan)
