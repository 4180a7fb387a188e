/** Every action that Stead writes into an activity log, with what it means. The action lists of the API are this table. */
export const actions = {
  'site.created': 'A site was created',
  'site.deployed': 'A site was installed and went live',
  'site.deploy_failed': 'A site could not be installed',
  'site.updated': 'Settings of a site were changed',
  'site.disabled': 'A site was disabled',
  'site.enabled': 'A site was enabled',
  'site.deleted': 'A site was deleted',
  'site.undeleted': 'A deleted site was brought back',
  'account.collaborator': 'Collaborators or their rights were changed',
  'collaborator.password_reset': "The password of a collaborator's WordPress user was reset",
  'collaborator.wordpress_user_failed':
    'The WordPress user of a collaborator could not be brought in line with its role',
  'wordpress.password_reset': 'The password of the site owner was reset',
  'favorite.added': 'A site was marked as a favourite',
  'favorite.removed': 'A site is no favourite any more',
  'tag.added': 'Tags were added to a site',
  'tag.removed': 'Tags were removed from a site',
  'note.created': 'A note was written',
  'note.updated': 'A note was changed',
  'note.deleted': 'A note was deleted',
  'operation.canceled': 'A background operation was canceled',
  'operation.retried': 'A background operation was started again',
} as const

export type Action = keyof typeof actions
