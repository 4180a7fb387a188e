import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  backup_limit_reached: {
    status: 400,
    text: 'A site may have {limit} on-demand backups of type {type}, and this one has as many. Delete one to create another.',
    remedy: 'Delete an on-demand backup of the type, or wait until the oldest goes by itself (`deleteAt`).',
  },
  sync_needs_slot: {
    status: 400,
    text: 'The site {site} has no free slot for the backup of type {type} that a sync takes before. Delete an on-demand backup of this type there.',
    remedy: 'Delete an on-demand backup of the type on that site, or sync without this type of data.',
  },
  sync_unlike_sites: {
    status: 400,
    text: 'The two sites cannot be synced: {reason}.',
    remedy:
      'Choose two sites of one account, and make them alike in what the text names; files alone can be synced between releases of WordPress, and from and to networks.',
  },
  backup_not_completed: {
    status: 400,
    text: 'The backup is not complete yet; it is {state}.',
    remedy: 'Wait until `status` is `completed`. To give it up, cancel the operation of its `Operation-Id`.',
  },
  backup_in_use: {
    status: 400,
    text: 'Operation {operation} needs this backup. Wait until the operation ends, or cancel it.',
    remedy: '`GET /v1/operations/{id}` shows the operation, and `POST /v1/operations/{id}/cancel` cancels it.',
  },
  backup_damaged: {
    status: 500,
    text: 'This backup cannot be read: a part of it is lost. Use another one, and take a new one.',
    remedy:
      'Use an older or a newer backup. Operators: the log names what is lost; look at the storage of the backups.',
  },
  too_many_downloads: {
    status: 429,
    text: 'Too many backups are being downloaded: {limit} by this application, or all that there may be. Wait until one has ended.',
    remedy: 'Download one after the other; repeat this one after `Retry-After` seconds.',
  },
  range_not_satisfiable: {
    status: 416,
    text: 'The download has {bytes} bytes, and none of those that Range asks for.',
    remedy: 'The copy is complete when it has that many bytes. `Content-Range` tells the number, too.',
  },
  archive_length_unknown: {
    status: 503,
    text: 'This part of the archive has not been made before, and is being found: ask again with the same Range.',
    remedy:
      'Repeat it after `Retry-After` seconds, as `curl --fail --retry 99 --continue-at -` does: each time goes on where the last one ended. Or download the archive from its beginning.',
  },
  restore_of_nothing: {
    status: 400,
    text: 'filesystem_id: it, or database_id, or both must be given.',
    remedy: '`GET /v1/sites/{site_id}/backups` lists the backups of a site with their ids.',
  },
  restore_unknown_backup: {
    status: 400,
    text: '{field}: the site has no completed {kind} backup {id}.',
    remedy: '`GET /v1/sites/{site_id}/backups/fs` and `…/db` list them.',
  },
  restore_parts_of_nothing: {
    status: 400,
    text: '{field}: it can be given only together with {needed}.',
    remedy: 'Name the backup of which these are parts.',
  },
  restore_unlike_site: {
    status: 400,
    text: 'restore_on_site_id: {reason}.',
    remedy: 'Choose another site of the same account.',
  },
  operation_not_undoable: {
    status: 400,
    text: 'The operation cannot be undone: {reason}.',
    remedy: '`GET /v1/operations/{id}` shows what it is and how it ended; the lists of backups have what was kept.',
  },
})
