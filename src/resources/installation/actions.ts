import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

const ofAccount = declareActions('account', {
  'account.suspended': 'The operator suspended the account',
  'account.resumed': 'The operator resumed the account',
  'account.removal_requested': 'The operator decided to remove the account',
  'account.removal_canceled': 'The operator canceled the removal of the account',
  'account.removed': 'An account was removed',
  'account.removal_failed': 'The removal of an account failed',
  'host.cordoned': 'The operator keeps new sites off a host',
  'host.drain_requested': 'The operator moves all sites off a host',
  'host.drained': 'The sites of a host were moved to others',
  'host.drain_failed': 'Moving the sites off a host failed',
  'host.rebalance_requested': 'The operator moves sites from full hosts to emptier ones',
  'host.rebalanced': 'Sites of full hosts were moved to emptier ones',
  'host.rebalance_failed': 'Moving sites from full hosts to emptier ones failed',
  'host.lost': 'The operator declared a host lost',
  'host.removed': 'The operator removed an empty host',
  'host.replace_requested': 'The operator replaces a host with another one',
  'host.replaced': 'The sites of a host were moved to another one, and the host was removed',
  'host.replace_failed': 'Replacing a host failed, and it stays',
  'host.returned': 'The operator lets a lost host run again',
  'host.uncordoned': 'The operator lets a host get new sites again',
  'records.backup_failed': "The backup of Stead's own records failed",
})

const ofSite = declareActions('site', {
  'site.relocation_requested': 'The move of a site to another host was requested',
  'site.relocated': 'A site was moved to another host',
  'site.relocate_failed': 'Moving a site to another host failed, and it stayed where it was',
  'site.brought_back': 'A site was recovered from its backups after a restore of Stead or the loss of its host',
  'site.bring_back_failed': 'Recovering a site from its backups failed',
})

/** Webhook events for these changes. */
export const events = declareEvents('site_relocated')

export const actions = { ...ofSite, ...ofAccount }
