/** What other folders may import from this resource. */

export { PLATFORM } from './alert.ts'
export { noteFault, type SiteFaultKind } from './faults.store.ts'
export { type AlertFinding, reconcileAlerts, sitesThatDiffer } from './judge/reconcile.ts'
export { endAlert, raiseAlert } from './raise-alert.ts'
