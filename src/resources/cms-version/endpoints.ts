import { updateCmsVersion } from './update-cms-version.ts'

/** In the order of the description of the API. */
export const endpoints = [updateCmsVersion]
