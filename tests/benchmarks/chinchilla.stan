// Chinchilla's law as bayescaling samples it: the same priors, the same Student-t on log loss, the same scatter by size.
data {
  int<lower=1> rows;
  vector[rows] log_parameters;  // minus their mean
  vector[rows] log_tokens;      // minus their mean
  vector[rows] log_loss;
}
parameters {
  real<lower=0> loss_centre;
  real<lower=0, upper=1> reducible_share;
  real<lower=0, upper=1> parameter_share;
  real<lower=0> alpha;
  real<lower=0> beta;
  real<lower=0> sigma;
  real sigma_parameters;
  real sigma_tokens;
  real<lower=0> nu_minus_one;
}
model {
  real reducible = loss_centre * reducible_share;
  vector[rows] loss = loss_centre * (1 - reducible_share)
                      + reducible * parameter_share * exp(-alpha * log_parameters)
                      + reducible * (1 - parameter_share) * exp(-beta * log_tokens);
  loss_centre ~ lognormal(1.1, 0.5);
  reducible_share ~ beta(2, 2);
  parameter_share ~ beta(2, 2);
  alpha ~ lognormal(-1.2, 0.7);
  beta ~ lognormal(-1.2, 0.7);
  sigma ~ lognormal(-4.6, 1.5);
  sigma_parameters ~ normal(0, 0.5);
  sigma_tokens ~ normal(0, 0.5);
  nu_minus_one ~ gamma(2, 0.1);
  log_loss ~ student_t(1 + nu_minus_one, log(loss), sigma * exp(sigma_parameters * log_parameters + sigma_tokens * log_tokens));
}
