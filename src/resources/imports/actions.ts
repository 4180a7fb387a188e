import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'import.created': 'An import of a site was created, and its archive is inspected',
  'import.uploaded': 'All files of an import were uploaded, and its archive is inspected',
  'import.fetching': 'The plugin of an import is active on the old site, and the site is fetched',
  'import.inspected': 'The archive of an import was inspected',
  'import.inspection_failed': 'The archive of an import cannot be used',
  'import.started': 'An import was started',
  'import.deleted': 'An import was deleted with its staged data',
  'site.imported': 'A site took the place of the one that was there',
  'site.import_failed': 'An import failed, and the site did not change',
})

/** Webhook events for these changes. */
export const events = declareEvents('site_imported', 'site_import_failed')
