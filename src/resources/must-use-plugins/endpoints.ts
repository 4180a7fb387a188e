import { createMuPlugin } from './create-mu-plugin.ts'
import { deleteMuPlugin } from './delete-mu-plugin.ts'
import { getMuPlugin } from './get-mu-plugin.ts'
import { listMuPlugins } from './list-mu-plugins.ts'
import { refreshMuPlugin } from './update-mu-plugin.ts'

/** In the order of the API description. */
export const endpoints = [listMuPlugins, getMuPlugin, createMuPlugin, refreshMuPlugin, deleteMuPlugin]
