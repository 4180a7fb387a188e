import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'

export const wpCli = resource({ actions })
