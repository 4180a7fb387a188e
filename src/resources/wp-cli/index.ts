import { resource } from '../resource.ts'
import { actions } from './actions.ts'

export const wpCli = resource({ actions })
