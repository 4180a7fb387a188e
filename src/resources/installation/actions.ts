import { declareActions } from '../action.ts'

const ofAccount = declareActions('account', {
  'records.backup_failed': 'The records of Stead itself could not be backed up',
})

const ofSite = declareActions('site', {
  'site.brought_back': 'A site was put back from its backups after Stead itself was restored',
  'site.bring_back_failed': 'A site could not be put back from its backups after Stead itself was restored',
})

export const actions = { ...ofSite, ...ofAccount }
