import Type from 'typebox'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { problems as cmsVersionProblems } from '../cms-version/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { PluginReleases, problems as pluginProblems } from '../plugins/public.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { findUpdates } from './find-updates.ts'
import { problems } from './problems.ts'
import { beginReport, updateInProgress } from './safe-update.store.ts'
import { MOST_PATHS, namesOfUpdate, PathOfPage } from './safe-update.ts'
import { safeUpdateSettingsOf } from './settings/safe-update-settings.store.ts'
import { updateSafelyJob } from './update-safely.job.ts'

const MOST_THEMES = 20

/** Fields that say what to update. */
export const SafeUpdateWish = {
  core: Type.Optional(
    Type.String({
      pattern: '^(latest|\\d{1,4}(\\.\\d{1,4}){1,2})$',
      maxLength: 20,
      description: 'Update WordPress, too: `latest`, or a stable release. `all` does not include it',
      examples: ['latest'],
    }),
  ),
  all: Type.Optional(
    Type.Boolean({ description: 'Update all plugins and themes that have an update', examples: [true] }),
  ),
  plugins: Type.Optional(PluginReleases.properties.plugins),
  themes: Type.Optional(
    Type.Array(
      Type.Object(
        {
          name: Type.String({
            minLength: 1,
            maxLength: 200,
            description: 'Its folder',
            examples: ['twentytwentyfive'],
          }),
          version: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 100,
              description: 'Default: the latest version',
              examples: ['1.3'],
            }),
          ),
        },
        { title: 'ThemeRelease' },
      ),
      { minItems: 1, maxItems: MOST_THEMES },
    ),
  ),
}

const Body = Type.Object(
  {
    ...SafeUpdateWish,
    paths: Type.Optional(
      Type.Array(PathOfPage, {
        maxItems: MOST_PATHS,
        description: 'More pages to compare. Together with those of the settings of the site, at most 10',
      }),
    ),
  },
  { title: 'SafeUpdateOrder' },
)

export const startSafeUpdate = endpoint({
  id: 'startSafeUpdate',
  method: 'POST',
  path: '/v1/sites/{id}/safe-updates',
  summary: 'Update plugins and themes safely',
  description:
    'An addition of Stead. Starts an operation that looks at pages of the site before and after the update, and compares them. ' +
    'If a page is worse, Stead restores the files of the earlier versions. Content that visitors wrote meanwhile stays. ' +
    'The report has the ID of the operation. Name plugins and themes, or send `all`, `core`, or both. ' +
    'An update of WordPress closes the site for a moment, and requires the role for it.',
  access: { site: 'manage plugins', fields: { core: 'change the CMS version' } },
  params: Type.Object({ id: SiteId }),
  body: Body,
  response: Nothing,
  starts: true,
  problems: [
    problems.nothing_to_update,
    problems.safe_update_in_progress,
    problems.themes_refused,
    problems.core_refused,
    cmsVersionProblems.php_too_old,
    cmsVersionProblems.releases_unknown,
    pluginProblems.plugins_refused,
    pluginProblems.plugin_directory_unavailable,
    siteProblems.site_not_live,
    siteProblems.site_cannot,
    siteProblems.site_unavailable,
  ],

  async prepare(context, { body }) {
    requireInstalled(context.site)
    return findUpdates(context, body)
  },

  async handle(context, { body }) {
    const { tx, site, now, prepared } = context
    requireInstalled(site)
    const operation = await updateInProgress(tx, updateSafelyJob.name, site.id)
    if (operation !== undefined) throw new Problem(problems.safe_update_in_progress, { operation: String(operation) })
    const paths = [...new Set(body.paths ?? [])]
    const settings = await safeUpdateSettingsOf(tx, site.id)
    if (new Set([...paths, ...settings.paths]).size > MOST_PATHS)
      throw invalidInput([
        `paths: must be at most ${MOST_PATHS}, with the ${settings.paths.length} of the settings of the site`,
      ])
    const id = await context.start(updateSafelyJob, { siteId: site.id, ...prepared, paths })
    await beginReport(tx, id, site.id, now)
    await context.record({
      action: actions['safe_update.ordered'],
      message: `Requested the safe update of ${namesOfUpdate(prepared)}`,
    })
    return null
  },
})
