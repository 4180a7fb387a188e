import type { components } from '../../../sdk/api.generated.ts'
import type { Got } from '../../api.ts'

export type Site = components['schemas']['WholeSite']
export type Import = components['schemas']['Import']

/**
 * Runs a change of a part of the page, shows the progress of an operation that it starts, and then reloads the site.
 */
export type Act = (about: string, change: () => Promise<Got<unknown>>) => () => void

export interface PartProps {
  readonly site: Site
  readonly act: Act
  readonly id: number
}
