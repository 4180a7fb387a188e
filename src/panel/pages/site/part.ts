import type { components } from '../../../sdk/api.generated.ts'
import type { Got } from '../../api.ts'

export type Site = components['schemas']['WholeSite']
export type Import = components['schemas']['Import']

/**
 * Runs a change of a part of the page, shows the progress of an operation that it starts, and then reloads the site.
 * The message of a change without an operation offers `undo`.
 */
export type Act = (about: string, change: () => Promise<Got<unknown>>, undo?: () => void) => () => Promise<void>

/** Turns a setting of the site on or off. The message offers to undo it. */
export function turnWith(
  act: Act,
  said: (isOn: boolean) => string,
  put: (isOn: boolean) => Promise<Got<unknown>>,
): (isOn: boolean) => Promise<void> {
  const turn = (isOn: boolean) =>
    act(
      said(isOn),
      () => put(isOn),
      () => void turn(!isOn),
    )()
  return turn
}

export interface PartProps {
  readonly site: Site
  readonly act: Act
  readonly id: number
}
