import { createLoginLink } from './create-login-link.ts'

/** In the order of the description of the API. */
export const endpoints = [createLoginLink]
