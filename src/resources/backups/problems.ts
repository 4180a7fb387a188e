import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  backup_limit_reached: {
    status: 400,
    text: 'A site can have {limit} on-demand backups of type {type}, and this site has reached the limit. Delete one to create another.',
    remedy: 'Delete an on-demand backup of this type, or wait until the oldest one expires (`deleteAt`).',
  },
  sync_needs_slot: {
    status: 400,
    text: 'A sync first backs up the site {site}, but the site has no free slot for a backup of type {type}. Delete an on-demand backup of this type on that site.',
    remedy: 'Delete an on-demand backup of this type on that site, or sync without this type of data.',
  },
  sync_unlike_sites: {
    status: 400,
    text: 'The two sites cannot be synced: {reason}.',
    remedy:
      'Choose two sites of the same account and resolve the difference that the error names. Between different WordPress versions, and between a site and a network, you can sync files only.',
  },
  backup_not_completed: {
    status: 400,
    text: 'The backup is {state}. Wait until it is completed.',
    remedy: 'Wait until `status` is `completed`. To stop the backup, cancel the operation from its `Operation-Id`.',
  },
  backup_in_use: {
    status: 400,
    text: 'Operation {operation} needs this backup. Wait until the operation ends, or cancel it.',
    remedy: '`GET /v1/operations/{id}` shows the operation, and `POST /v1/operations/{id}/cancel` cancels it.',
  },
  backup_damaged: {
    status: 500,
    text: 'This backup is damaged: the storage lost a part of it. Use another backup, and create a new one.',
    remedy: 'Use another backup. Operators: the log names the missing part. Check the backup storage.',
  },
  too_many_downloads: {
    status: 429,
    text: 'Too many backup downloads are running: this application has {limit}, or the whole installation reached its limit. Wait until a download ends.',
    remedy: 'Download the backups one by one. Repeat this request after `Retry-After` seconds.',
  },
  range_not_satisfiable: {
    status: 416,
    text: 'The download has {bytes} bytes, so the requested Range is outside of it. Request an earlier range.',
    remedy: 'If your copy has that many bytes, it is complete. The `Content-Range` header also contains the number.',
  },
  archive_length_unknown: {
    status: 503,
    text: 'Stead is still searching for this part of the archive. Repeat the request with the same Range.',
    remedy:
      'Repeat the request after `Retry-After` seconds, as `curl --fail --retry 99 --continue-at -` does. Each attempt resumes the search. Or download the archive from the start.',
  },
  restore_of_nothing: {
    status: 400,
    text: 'filesystem_id: provide filesystem_id, database_id, or both.',
    remedy: 'Choose a backup. `GET /v1/sites/{site_id}/backups` lists the backups of a site with their ids.',
  },
  restore_unknown_backup: {
    status: 400,
    text: '{field}: the site has no completed {kind} backup {id}.',
    remedy: 'Choose a backup from `GET /v1/sites/{site_id}/backups/fs` or `…/db`.',
  },
  restore_parts_of_nothing: {
    status: 400,
    text: '{field}: requires {needed}.',
    remedy: 'Send the id of the backup that contains these parts.',
  },
  restore_unlike_site: {
    status: 400,
    text: 'restore_on_site_id: {reason}.',
    remedy: 'Choose another site of the same account.',
  },
  operation_not_undoable: {
    status: 400,
    text: 'The operation cannot be undone: {reason}.',
    remedy:
      'See `GET /v1/operations/{id}` for the state of the operation. If the previous content has expired, restore a backup instead.',
  },
})
