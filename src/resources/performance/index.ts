import { toggleLight404 } from './toggle-light-404.ts'
import { toggleMaintenance } from './toggle-maintenance.ts'
import { toggleMultisite } from './toggle-multisite.ts'

export const performance = {
  operations: [toggleLight404, toggleMultisite, toggleMaintenance],
}
