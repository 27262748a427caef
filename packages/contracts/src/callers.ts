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

/** A gRPC service: who serve it, and who may call each of its methods. A method that is missing here does not compile. */
function grpcService<Definition extends ServiceDefinition>(
  servers: Identity | readonly Identity[],
  definition: Definition,
  callers: { readonly [Method in keyof Definition]: readonly Identity[] },
) {
  return { servers: [servers].flat(), definition, callers };
}

/** All gRPC services. The servers refuse every call that this table does not allow. */
export const GRPC_SERVICES = {
  AccountsService: grpcService('accounts', AccountsServiceService, {
    verifyToken: ['gateway'],
  }),
  AccountsAdminService: grpcService('accounts', AccountsAdminServiceService, {
    setPlan: ['bds'],
    listPlans: ['bds'],
    createAccount: ['bds'],
    listAccounts: ['bds'],
    getAccount: ['bds'],
    setAccountPlan: ['bds'],
    renameAccount: ['bds'],
    closeAccount: ['bds'],
    reopenAccount: ['bds'],
    createKey: ['bds'],
    updateKey: ['bds'],
    rotateKey: ['bds'],
    listKeys: ['bds'],
    revokeKey: ['bds'],
    signAllowance: ['bds'],
    createOperator: ['bds'],
    listOperators: ['bds'],
    revokeOperator: ['bds'],
    issuePass: ['bds'],
    listAudit: ['bds'],
    finishRestore: ['bds'],
  }),
  CatalogService: grpcService('catalog', CatalogServiceService, {
    lookup: ['gateway'],
  }),
  CatalogAdminService: grpcService('catalog', CatalogAdminServiceService, {
    putBrands: ['bds'],
    putQuotes: ['bds'],
    finishImport: ['bds'],
    getBrand: ['bds'],
    deleteBrand: ['bds'],
    setFields: ['bds'],
    unsetFields: ['bds'],
    listOverrides: ['bds'],
    listImagePaths: ['bds'],
    listLogoFiles: ['bds'],
    resolve: ['bds'],
    getStatistics: ['bds'],
    listBrands: ['bds'],
    exportCompanies: ['bds'],
    restoreCompanies: ['bds'],
  }),
  ImagesAdminService: grpcService('images', ImagesAdminServiceService, {
    putImage: ['bds'],
    sweepImages: ['bds'],
    countImages: ['bds'],
  }),
  MeteringService: grpcService('metering', MeteringServiceService, {
    acquire: ['gateway'],
    report: ['gateway'],
    readUsage: ['gateway'],
  }),
  MeteringAdminService: grpcService('metering', MeteringAdminServiceService, {
    getUsage: ['bds'],
    listUsage: ['bds'],
    listLastCalls: ['bds'],
    repairLimits: ['bds'],
    listNotices: ['bds'],
    redeliverNotices: ['bds'],
    testWebhook: ['bds'],
    replayUsage: ['bds'],
  }),
  DiagnosisAdminService: grpcService(ADMIN_SERVERS, DiagnosisAdminServiceService, {
    diagnose: ['bds'],
  }),
};
