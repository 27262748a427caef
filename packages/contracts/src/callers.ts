import { randomBytes } from 'node:crypto';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { AccountsAdminServiceService, AccountsServiceService } from './gen/brand_data/v1/accounts.ts';
import { CatalogAdminServiceService, CatalogServiceService } from './gen/brand_data/v1/catalog.ts';
import { DiagnosisAdminServiceService } from './gen/brand_data/v1/diagnosis.ts';
import { ImagesAdminServiceService } from './gen/brand_data/v1/images.ts';
import { MeteringAdminServiceService, MeteringServiceService } from './gen/brand_data/v1/metering.ts';
import { SERVICES } from './server-rights.ts';

/** Every program that has an identity. `bds` is the operators' command line. */
export const IDENTITIES = [...SERVICES, 'bds'] as const;
export type Identity = (typeof IDENTITIES)[number];

/** The services that have an admin port. */
export const ADMIN_SERVERS = ['accounts', 'catalog', 'metering', 'images'] as const;

/** The services to which accounts gives operators passes. */
export const PASS_SERVICES = ['catalog', 'metering', 'images'] as const;

/**
 * What an operator may do. `read`: look at everything, without any token. `keys`: also change plans, accounts, keys and blocks. `catalogue`:
 * also import, set and delete records and images. `all`: everything, also create operators.
 */
export const OPERATOR_ROLES = ['read', 'keys', 'catalogue', 'all'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export function isOperatorRole(text: string): text is OperatorRole {
  return (OPERATOR_ROLES as readonly string[]).includes(text);
}

/** A gRPC service: who serve it, and who may call each of its methods. A method that is missing here does not compile. */
function grpcService<Definition extends ServiceDefinition>(
  server: Identity,
  definition: Definition,
  callers: { readonly [Method in keyof Definition]: readonly Identity[] },
) {
  return { servers: [server], definition, callers };
}

/**
 * A gRPC service of an admin port, whose only caller is `bds`: the role that an operator needs for each of its methods. A method that
 * is missing here does not compile. Every method beyond `read` is a change.
 */
function adminService<Definition extends { readonly [Method in keyof Definition]: { path: string } }>(
  servers: Identity | readonly Identity[],
  definition: Definition,
  roles: { readonly [Method in keyof Definition]: OperatorRole },
) {
  const methods = Object.keys(definition) as (keyof Definition & string)[];
  const callers: Record<string, readonly Identity[]> = Object.fromEntries(
    methods.map((method) => [method, ['bds']]),
  );
  const roleByPath = methods.map((method) => [definition[method].path, roles[method]] as const);
  return { servers: [servers].flat(), definition, callers, roleByPath };
}

const ADMIN_SERVICES = {
  AccountsAdminService: adminService('accounts', AccountsAdminServiceService, {
    setPlan: 'keys',
    listPlans: 'read',
    deletePlan: 'keys',
    createAccount: 'keys',
    // The signed limits of an account: whoever has them can repair its ledger.
    signAllowance: 'all',
    listAccounts: 'read',
    getAccount: 'read',
    setAccountPlan: 'keys',
    renameAccount: 'keys',
    closeAccount: 'keys',
    reopenAccount: 'keys',
    // It also changes the trail, in which no other role may change anything.
    deleteAccount: 'all',
    createKey: 'keys',
    updateKey: 'keys',
    rotateKey: 'keys',
    findKey: 'read',
    listKeys: 'read',
    revokeKey: 'keys',
    blockNetwork: 'keys',
    unblockNetwork: 'keys',
    listBlocks: 'read',
    createOperator: 'all',
    listOperators: 'read',
    revokeOperator: 'all',
    // A pass says which role the operator has, and so gives nothing more.
    issuePass: 'read',
    listAudit: 'read',
    finishRestore: 'all',
  }),
  CatalogAdminService: adminService('catalog', CatalogAdminServiceService, {
    putBrands: 'catalogue',
    putQuotes: 'catalogue',
    finishImport: 'catalogue',
    noteImport: 'catalogue',
    listImports: 'read',
    listImportChanges: 'read',
    undoImport: 'catalogue',
    listSourceRecords: 'read',
    getBrand: 'read',
    deleteBrand: 'catalogue',
    setFields: 'catalogue',
    unsetFields: 'catalogue',
    listOverrides: 'read',
    decideLinks: 'catalogue',
    listImagePaths: 'read',
    listLogoFiles: 'read',
    resolve: 'read',
    getStatistics: 'read',
    listBrands: 'read',
    exportCompanies: 'read',
    restoreCompanies: 'catalogue',
  }),
  ImagesAdminService: adminService('images', ImagesAdminServiceService, {
    putImage: 'catalogue',
    sweepImages: 'catalogue',
    countImages: 'read',
  }),
  MeteringAdminService: adminService('metering', MeteringAdminServiceService, {
    getUsage: 'read',
    listUsage: 'read',
    listLastCalls: 'read',
    repairLimits: 'all',
    listNotices: 'read',
    redeliverNotices: 'keys',
    testWebhook: 'keys',
    replayUsage: 'all',
  }),
  DiagnosisAdminService: adminService(ADMIN_SERVERS, DiagnosisAdminServiceService, { diagnose: 'read' }),
};

/** All gRPC services. The servers refuse every call that this table does not allow. */
export const GRPC_SERVICES = {
  ...ADMIN_SERVICES,
  AccountsService: grpcService('accounts', AccountsServiceService, {
    verifyToken: ['gateway'],
    listBlockedNetworks: ['gateway'],
    listPublicPlans: ['gateway'],
  }),
  CatalogService: grpcService('catalog', CatalogServiceService, { lookup: ['gateway'], search: ['gateway'] }),
  MeteringService: grpcService('metering', MeteringServiceService, {
    acquire: ['gateway'],
    report: ['gateway'],
    readUsage: ['gateway'],
  }),
};

/** By the path of the method: "/brand_data.v1.AccountsAdminService/CreateKey". */
const roleNeeded: ReadonlyMap<string, OperatorRole> = new Map(
  Object.values(ADMIN_SERVICES).flatMap(({ roleByPath }) => roleByPath),
);

/** Who may call which method of the admin ports. */
export const ADMIN_PORT = {
  roleNeeded,
  mayCall: (role: string, needed: string): boolean => role === 'all' || needed === 'read' || role === needed,
};

const PREFIX = 'bdsop_';
const RANDOM_BYTES = 24;

/** Returns a new credential of an operator, which is impossible to guess. Its prefix lets scanners of leaked secrets find it. */
export function createOperatorCredential(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Whether the text has the form of an operator's own credential, unlike the installation's operator token. */
export function isOperatorCredential(text: string): boolean {
  return /^bdsop_[\w-]{32}$/.test(text);
}
