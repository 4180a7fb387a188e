import { Budget } from '../../src/platform/budgets/budget.ts'

/** A budget for a test. @param all limit of all users together. @param each limit of one user */
export const budgetOf = (all = Number.MAX_SAFE_INTEGER, each = all): Budget =>
  new Budget({ name: 'test', what: '', of: 'memory', whose: 'site', each, all, over: '' })
