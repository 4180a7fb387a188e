import { toggleLight404 } from './toggle-light-404.ts'
import { toggleMaintenance } from './toggle-maintenance.ts'
import { toggleMultisite } from './toggle-multisite.ts'

/** In the order of the API description. */
export const endpoints = [toggleLight404, toggleMultisite, toggleMaintenance]
