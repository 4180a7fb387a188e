import type { components } from '../../../sdk/api.generated.ts'
import type { Got } from '../../api.ts'

export type Site = components['schemas']['WholeSite']

/** What a part of the page does: a change that may start work, whose progress is then shown, and after which the site is read anew. */
export type Act = (about: string, change: () => Promise<Got<unknown>>) => () => void

export interface PartProps {
  readonly site: Site
  readonly act: Act
  readonly id: number
}
