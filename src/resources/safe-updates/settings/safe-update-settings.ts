import Type from 'typebox'
import { MASK_LENGTH, MASK_PATTERN } from '../../../hosting/page-measure/mask.ts'
import { MOST_PATHS, PathOfPage } from '../safe-update.ts'

/** The most selectors of a site. */
const MOST_MASKS = 20

/** Settings for all safe updates of a site. */
export interface SafeUpdateSettings {
  /** Selectors of elements that pictures leave out. */
  readonly masks: readonly string[]
  /** More pages to compare. */
  readonly paths: readonly string[]
}

/** Settings of a site for which nobody has chosen any. */
export const noSettings: SafeUpdateSettings = { masks: [], paths: [] }

export const safeUpdateSettingsFields = {
  masks: Type.Array(
    Type.String({
      minLength: 1,
      maxLength: MASK_LENGTH,
      pattern: MASK_PATTERN,
      description: 'A CSS selector without `{`, `}`, `<`, `@`, and comments',
      examples: ['.visitor-counter'],
    }),
    {
      maxItems: MOST_MASKS,
      description: 'Elements that pictures leave out. Their text is still compared',
      examples: [['.visitor-counter']],
    },
  ),
  paths: Type.Array(PathOfPage, {
    maxItems: MOST_PATHS,
    description: 'More pages that every safe update compares',
    examples: [['/checkout/']],
  }),
}

export const SafeUpdateSettingsSchema = Type.Object(safeUpdateSettingsFields, { title: 'SafeUpdateSettings' })

export const presentSafeUpdateSettings = ({ masks, paths }: SafeUpdateSettings) => ({
  masks: [...masks],
  paths: [...paths],
})
