/** What other folders may import from this resource. */
export {
  type Account,
  type AccountFacts,
  type Application,
  allApplications,
  endApplication,
  findAccount,
  findAccountByEmail,
  firstAccount,
  isOperator,
  listAccounts,
  listLiveApplications,
  setFacts,
  setPlan,
  setSuspended,
  suspendedAmong,
} from './account.store.ts'
export {
  ensureAccount,
  ensurePanelApplication,
  gravatar,
  makeAccount,
  makeApplication,
  makeFirstAccount,
  normalEmail,
  raisesLimits,
} from './account.ts'
export { actions } from './actions.ts'
export { capacityAndUsage, capacityOfAccount, type PlanUsage } from './addon.store.ts'
export { firstPlan, invitedPlan, type Plan, planNamed, planNames } from './plans.ts'
export { problems } from './problems.ts'
export {
  deleteAccount,
  deleteRemoval,
  findRemoval,
  insertRemoval,
  markBegun,
  type Removal,
  setRemovalOperation,
} from './removal.store.ts'
